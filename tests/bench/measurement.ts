import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** A figure with `atMost: Infinity` is reported alone. */
export type Target = {
  what: string;
  value: number;
  atMost: number;
  unit?: string;
};
export type Part = {
  title: string;
  header: string[];
  rows: (string | number)[][];
  targets: Target[];
};

/** A whole number, or one with three significant digits. */
export function figure(value: string | number): string {
  if (typeof value === 'string') return value;
  if (Number.isInteger(value) || Math.abs(value) >= 100)
    return Math.round(value).toLocaleString('en');
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

export function partText({
  title,
  header,
  rows,
  targets = [],
}: Omit<Part, 'targets'> & Partial<Part>): string {
  const lines = [header, ...rows].map((row) =>
    header.map((_, column) => figure(row[column] ?? '')),
  );
  const widths = header.map((_, column) => Math.max(...lines.map((row) => row[column]!.length)));
  const line = (row: string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const [first, ...rest] = lines as [string[], ...string[][]];
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [
    '',
    `### ${title}`,
    '',
    line(first),
    rule,
    ...rest.map(line),
    '',
    ...targets.map(targetText),
  ].join('\n');
}

function targetText({ what, value, atMost, unit = '' }: Target): string {
  const found = `${what}: ${figure(value)}${unit}`;
  if (atMost === Infinity) return `       ${found}`;
  return `${value <= atMost ? 'met   ' : 'MISSED'} ${found}, at most ${figure(atMost)}${unit}`;
}

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
    for (const name of done.length % 2 === 0 ? names : names.toReversed())
      laps[name] = await lanes[name]();
    done.push({ laps, stolen: stolen() });
  }
  const kept = done.toSorted((a, b) => a.stolen - b.stolen).slice(0, rounds);
  return Object.fromEntries(
    names.map((name) => [name, kept.map(({ laps }) => laps[name])]),
  ) as Record<Lane, Lap[]>;
}

export async function inParallel<T>(
  atOnce: number,
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
) {
  const queue = [...items].values();
  const workThrough = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, workThrough));
}

export const sum = (values: number[]): number => values.reduce((all, each) => all + each, 0);

/** The value below which this share (0 to 1) of the values lies. */
function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

export const median = (values: number[]): number => quantile(values, 0.5);

/** The values of each round, or the one value. */
type Rounds = (number | number[])[];

/**
 * How two lanes that ran in the same rounds compare: the ratio of one value over all rounds, and as text with the
 * quartiles of the rounds' own ratios.
 */
export function compare(
  ours: Rounds,
  theirs: Rounds,
  value = median,
): { ratio: number; text: string } {
  const each = ours.map((lap, round) => value([lap].flat()) / value([theirs[round]!].flat()));
  const ratio = value(ours.flat()) / value(theirs.flat());
  return {
    ratio,
    text: `${ratio.toFixed(2)} (${quantile(each, 0.25).toFixed(2)}–${quantile(each, 0.75).toFixed(2)})`,
  };
}

const shares = { p50: 0.5, p95: 0.95, p99: 0.99 };
type AtMost = Partial<typeof shares>;
const columns = Object.keys(shares);

/** A part that compares lanes with bare or other ones, by the rows of `addBeside`; `more` columns come last. */
export function partBeside(title: string, other = 'bare', more: string[] = []): Part {
  const times = columns.map((name) => `${name} ms`);
  const ratios = columns.map((name) => `ratio of ${name}`);
  const header = ['what', ...times, ...times.map((name) => `${other} ${name}`), ...ratios, ...more];
  return { title, header, rows: [], targets: [] };
}

export type Pair<T> = [ours: T, theirs: T];
type Wanted = { atMost?: AtMost; more?: (string | number)[] };

export function addBeside(
  part: Part,
  what: string,
  [ours, theirs]: Pair<number[][]>,
  wanted: Wanted = {},
): void {
  const { atMost = { p50: Infinity }, more = [] } = wanted;
  const times = [ours, theirs].flatMap((laps) =>
    Object.values(shares).map((share) => quantile(laps.flat(), share)),
  );
  const ratios = Object.values(shares).map((share) =>
    compare(ours, theirs, (values) => quantile(values, share)),
  );
  part.rows.push([what, ...times, ...ratios.map(({ text }) => text), ...more]);
  for (const [name, most] of Object.entries(atMost))
    part.targets.push({
      what: `${what}, ${name}`,
      value: ratios[columns.indexOf(name)]!.ratio,
      atMost: most,
    });
}

/** The resident memory (`VmRSS`) of a process in KB, or the highest since `resetPeak` (`VmHWM`). */
export function memoryKb(pid: number, which: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  return Number(
    new RegExp(`^${which}:\\s+(\\d+) kB$`, 'm').exec(
      readFileSync(`/proc/${pid}/status`, 'utf8'),
    )![1],
  );
}

/** Sets the peak of a process to its present memory (proc(5), `clear_refs`). */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** Starts measuring; the returned function gives the share (0 to 1) of CPU time that the host has stolen since. */
export function measureStealTime(): () => number {
  const before = ticks();
  return () => {
    const spent = ticks().map((count, index) => count - before[index]!);
    const all = spent.reduce((sum, count) => sum + count, 0);
    return all === 0 ? 0 : spent.at(-1)! / all;
  };
}

/** User, nice, system, idle, iowait, irq, softirq and steal, of all processors, in ticks since the start. */
function ticks(): number[] {
  const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/\s+/);
  return fields.slice(0, 8).map(Number);
}
