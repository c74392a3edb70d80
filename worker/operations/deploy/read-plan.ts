import { UsageError } from '../target.ts';
import type { Plan } from './deploy-gradually.ts';

type Flags = Record<string, string | boolean | undefined>;

/** The steps that the flags ask for, or null for a deployment to everybody at once. Throws a `UsageError`. */
export function readPlan({ gradual, parts = '10,50', minutes = '5' }: Flags): Plan | null {
  if (!gradual) {
    if (parts !== '10,50' || minutes !== '5') throw new UsageError('--parts and --minutes go with --gradual.');
    return null;
  }
  const numbers = String(parts).split(',').map(Number);
  const grow = numbers.every((part, index) => part > (numbers[index - 1] ?? 0) && part < 100);
  if (!grow) throw new UsageError('--parts takes growing percentages between 0 and 100, such as 10,50.');
  if (!/^\d{1,3}$/.test(String(minutes))) throw new UsageError('--minutes takes a whole number from 0 to 999.');
  return { parts: numbers, watchMs: Number(minutes) * 60_000, pauseMs: 30_000 };
}
