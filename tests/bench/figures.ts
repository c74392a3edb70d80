import { figure, type Part, type Target } from './measurement.ts';

/** The parts that a run has measured, by their letters. */
export type Run = {
  date: string;
  machine: string;
  parts: Record<string, Part>;
};

const begin = '<!-- figures: `npm run bench` writes what is between these two lines -->';
const end = '<!-- end of figures -->';
const head = ['part', 'what', 'figure', 'at most', 'measured'];

/**
 * A document with the figures of a run between its two markers: they replace
 * those of the same parts, and the figures of all other parts stay.
 */
export function withFigures(document: string, { date, machine, parts }: Run): string {
  const [before, rest] = document.split(`${begin}\n`);
  const [old, after] = rest?.split(end) ?? [];
  if (old === undefined || after === undefined)
    throw new Error(`The figures have no place: write "${begin}" and "${end}" into the document.`);

  const kept = rowsIn(old).filter(([letter = '']) => !(letter in parts));
  const rows = [...kept, ...rowsOf(parts, date.slice(0, 10))];
  const sorted = rows.toSorted(([a = ''], [b = '']) => a.localeCompare(b));
  const newest = `The newest run: ${date} UTC, ${machine}.`;
  return `${before}${begin}\n\n${newest}\n\n${tableOf([head, ...sorted])}\n\n${end}${after}`;
}

function rowsOf(parts: Run['parts'], date: string): string[][] {
  return Object.entries(parts).flatMap(([letter, { targets }]) =>
    limitedOf(targets).map(({ what, value, atMost, unit = '' }) => [
      letter,
      what,
      `${figure(value)}${unit}`,
      Number.isFinite(atMost) ? `${figure(atMost)}${unit}` : 'reported',
      date,
    ]),
  );
}

/** The figures with a limit; of a part without any all of them. */
function limitedOf(targets: Target[]): Target[] {
  const limited = targets.filter(({ atMost }) => Number.isFinite(atMost));
  return limited.length > 0 ? limited : targets;
}

function rowsIn(table: string): string[][] {
  const [, block = ''] = table.split('```\n');
  const [, ...lines] = block.trimEnd().split('\n');
  return lines.map((line) => line.split(/ {2,}/));
}

function tableOf(rows: string[][]): string {
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('   ')
      .trimEnd();
  return ['```', ...rows.map(line), '```'].join('\n');
}
