import { measureStealTime } from './rig/workerd.ts';

/** A target: a value and its maximum. */
export type Target = { what: string; value: number; atMost: number; unit: string };

/** The results of one part. */
export type Part = { title: string; header: string[]; rows: (string | number)[][]; targets: Target[] };

export const ratioText = ({ ratio, spread: [low, high] }: Ratio): string =>
  `${ratio.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;

/** A whole number, or one with three significant digits. */
function figure(value: string | number): string {
  if (typeof value === 'string') return value;
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

/** A part as a Markdown table, with its targets below. */
export function partText({ title, header, rows, targets = [] }: Omit<Part, 'targets'> & Partial<Part>): string {
  const lines = [header, ...rows].map((row) => row.map(figure));
  const widths = header.map((_, column) => Math.max(...lines.map((row) => row[column]!.length)));
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const [first, ...rest] = lines as [string[], ...string[][]];
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return ['', `### ${title}`, '', line(first), rule, ...rest.map(line), '', ...targets.map(targetText)].join('\n');
}

const targetText = ({ what, value, atMost, unit }: Target): string =>
  `${value <= atMost ? 'met   ' : 'MISSED'} ${what}: ${figure(value)}${unit}, at most ${figure(atMost)}${unit}`;

/** A round with more stolen CPU time measures the host more than a lane. */
const tolerableSteal = 0.01;
const triesEach = 2;

type Round<Lane extends string, Lap> = { laps: Record<Lane, Lap>; stolen: number };

/**
 * Runs the lanes in turn, round after round, each round in the other order; returns the results of each round. Rounds
 * that the host has disturbed are run again, as long as there are not twice as many; the least disturbed ones count.
 */
export async function inRounds<Lane extends string, Lap>(
  rounds: number,
  lanes: Record<Lane, () => Promise<Lap>>,
): Promise<Record<Lane, Lap[]>> {
  const names = Object.keys(lanes) as Lane[];
  const done: Round<Lane, Lap>[] = [];
  const calm = () => done.filter(({ stolen }) => stolen <= tolerableSteal).length;
  while (done.length < rounds || (calm() < rounds && done.length < rounds * triesEach)) {
    const order = done.length % 2 === 0 ? names : names.toReversed();
    done.push(await runRound(order, lanes));
  }
  const kept = done.toSorted((a, b) => a.stolen - b.stolen).slice(0, rounds);
  return Object.fromEntries(names.map((name) => [name, kept.map(({ laps }) => laps[name])])) as Record<Lane, Lap[]>;
}

async function runRound<Lane extends string, Lap>(
  order: Lane[],
  lanes: Record<Lane, () => Promise<Lap>>,
): Promise<Round<Lane, Lap>> {
  const stolen = measureStealTime();
  const laps = {} as Record<Lane, Lap>;
  for (const name of order) laps[name] = await lanes[name]();
  return { laps, stolen: stolen() };
}

/** Does the work of every item, so many at once. */
export async function inParallel<Item>(
  atOnce: number,
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const queue = [...items].values();
  const workThrough = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, workThrough));
}

/** The value below which this share (0 to 1) of the values lies. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

export const median = (values: number[]): number => quantile(values, 0.5);

export type Ratio = {
  ratio: number;
  /** The quartiles of the rounds' own ratios. */
  spread: [number, number];
};

/** How two lanes that ran in the same rounds compare: the ratio of one value over all rounds, and its spread. */
export function compare(ours: number[][], theirs: number[][], value: (lap: number[]) => number = median): Ratio {
  const each = ours.map((lap, round) => value(lap) / value(theirs[round]!));
  return { ratio: value(ours.flat()) / value(theirs.flat()), spread: [quantile(each, 0.25), quantile(each, 0.75)] };
}

export const p95 = (values: number[]): number => quantile(values, 0.95);

/** The columns of `besideRow`. */
export const besideHeader = [
  'what',
  'p50 ms',
  'p95 ms',
  'bare p50 ms',
  'bare p95 ms',
  'ratio of p50 (middle half)',
  'ratio of p95',
];

/** A row for two lanes that ran in the same rounds. */
export function besideRow(what: string, ours: number[][], theirs: number[][]): (string | number)[] {
  const [mine, other] = [ours.flat(), theirs.flat()];
  const ratios = [compare(ours, theirs), compare(ours, theirs, p95)].map(ratioText);
  return [what, median(mine), p95(mine), median(other), p95(other), ...ratios];
}
