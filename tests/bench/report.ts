import { measureStealTime } from './rig/processes.ts';

/** A target: a value and its maximum. */
export type Target = { what: string; value: number; atMost: number; unit?: string };

/** The results of one part. */
export type Part = { title: string; header: string[]; rows: (string | number)[][]; targets: Target[] };

/** A whole number, or one with three significant digits. */
function figure(value: string | number): string {
  if (typeof value === 'string') return value;
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

/** A part as a Markdown table, with its targets below. */
export function partText({ title, header, rows, targets = [] }: Omit<Part, 'targets'> & Partial<Part>): string {
  const lines = [header, ...rows].map((row) => header.map((_, column) => figure(row[column] ?? '')));
  const widths = header.map((_, column) => Math.max(...lines.map((row) => row[column]!.length)));
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const [first, ...rest] = lines as [string[], ...string[][]];
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return ['', `### ${title}`, '', line(first), rule, ...rest.map(line), '', ...targets.map(targetText)].join('\n');
}

const targetText = ({ what, value, atMost, unit = '' }: Target): string =>
  `${value <= atMost ? 'met   ' : 'MISSED'} ${what}: ${figure(value)}${unit}, at most ${figure(atMost)}${unit}`;

/** A round with more stolen CPU time measures the host more than a lane. */
const tolerableSteal = 0.01;
const triesEach = 2;

/**
 * Runs the lanes in turn, round after round, each round in the other order; returns the results of each round. Rounds
 * that the host has disturbed are run again, as long as there are not twice as many; the least disturbed ones count.
 * Those of the warm-up do not count at all.
 */
export async function inRounds<Lane extends string, Lap>(
  { rounds, warmUp = 0 }: { rounds: number; warmUp?: number },
  lanes: Record<Lane, () => Promise<Lap>>,
): Promise<Record<Lane, Lap[]>> {
  if (warmUp > 0) await inRounds({ rounds: warmUp }, lanes);
  const names = Object.keys(lanes) as Lane[];
  const done: { laps: Record<Lane, Lap>; stolen: number }[] = [];
  const calm = () => done.filter(({ stolen }) => stolen <= tolerableSteal).length;
  while (done.length < rounds || (calm() < rounds && done.length < rounds * triesEach)) {
    const stolen = measureStealTime();
    const laps = {} as Record<Lane, Lap>;
    for (const name of done.length % 2 === 0 ? names : names.toReversed()) laps[name] = await lanes[name]();
    done.push({ laps, stolen: stolen() });
  }
  const kept = done.toSorted((a, b) => a.stolen - b.stolen).slice(0, rounds);
  return Object.fromEntries(names.map((name) => [name, kept.map(({ laps }) => laps[name])])) as Record<Lane, Lap[]>;
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

export const sum = (values: number[]): number => values.reduce((all, each) => all + each, 0);

/** The value below which this share (0 to 1) of the values lies. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

export const median = (values: number[]): number => quantile(values, 0.5);
export const p95 = (values: number[]): number => quantile(values, 0.95);
export const p99 = (values: number[]): number => quantile(values, 0.99);

/** The values of each round, or the one value. */
type Rounds = (number | number[])[];

/**
 * How two lanes that ran in the same rounds compare: the ratio of one value over all rounds, and as text with the
 * quartiles of the rounds' own ratios.
 */
export function compare(ours: Rounds, theirs: Rounds, value = median): { ratio: number; text: string } {
  const each = ours.map((lap, round) => value([lap].flat()) / value([theirs[round]!].flat()));
  const ratio = value(ours.flat()) / value(theirs.flat());
  return { ratio, text: `${ratio.toFixed(2)} (${quantile(each, 0.25).toFixed(2)}–${quantile(each, 0.75).toFixed(2)})` };
}

/** A part that compares lanes with bare ones, by the rows of `addBeside`. */
export const partBeside = (title: string): Part => ({
  title,
  header: ['what', 'p50 ms', 'p95 ms', 'bare p50 ms', 'bare p95 ms', 'ratio of p50 (middle half)', 'ratio of p95'],
  rows: [],
  targets: [],
});

/** Adds a row for two lanes that ran in the same rounds, and targets for the ratios of their quantiles. */
export function addBeside(
  { rows, targets }: Part,
  what: string,
  [ours, theirs]: [ours: number[][], theirs: number[][]],
  atMost: { p50?: number; p95?: number } = {},
): void {
  const ratios = { p50: compare(ours, theirs), p95: compare(ours, theirs, p95) };
  const times = [ours, theirs].flatMap((laps) => [median(laps.flat()), p95(laps.flat())]);
  rows.push([what, ...times, ratios.p50.text, ratios.p95.text]);
  for (const [name, most] of Object.entries(atMost) as [keyof typeof ratios, number][]) {
    targets.push({ what: `${what}, ${name} beside the bare one`, value: ratios[name].ratio, atMost: most });
  }
}
