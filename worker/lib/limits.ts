import { dayMs, hourMs, minuteMs } from './time.ts';

/** At most `most` times in any stretch of `per` milliseconds. */
export type Limit = { most: number; per: number };

/** Rate-limit events are kept this long (ms); no limit may look back further. */
export const rateLimitEventsKeptMs = dayMs;

const units = { s: 1_000, m: minuteMs, h: hourMs, d: dayMs } as const;

/** Reads `5/1h 10/1d`. */
export function parseLimits(text: string): Limit[] {
  return text
    .trim()
    .split(/\s+/)
    .map((part) => {
      const [, most, count, unit] = /^(\d+)\/(\d+)([smhd])$/.exec(part)!;
      return { most: Number(most), per: Number(count) * units[unit as keyof typeof units] };
    });
}
