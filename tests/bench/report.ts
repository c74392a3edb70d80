import type { Ratio } from './load/rounds.ts';

/** A target: a value and its maximum. */
export type Target = { what: string; value: number; atMost: number; unit: string };

/** The results of one part. */
export type Part = { title: string; header: string[]; rows: (string | number)[][]; targets: Target[] };

export const ratioText = ({ ratio, spread: [low, high] }: Ratio): string =>
  `${ratio.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;

/** A number with three significant digits. */
function figure(value: string | number): string {
  if (typeof value === 'string') return value;
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

/** A part as a Markdown table, with its targets below. */
export function partText({ title, header, rows, targets }: Part): string {
  const lines = [header, ...rows].map((row) => row.map(figure));
  const widths = header.map((_, column) => Math.max(...lines.map((row) => row[column]!.length)));
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const [first, ...rest] = lines as [string[], ...string[][]];
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return ['', `### ${title}`, '', line(first), rule, ...rest.map(line), '', ...targets.map(targetText)].join('\n');
}

const targetText = ({ what, value, atMost, unit }: Target): string =>
  `${value <= atMost ? 'met   ' : 'MISSED'} ${what}: ${figure(value)}${unit}, at most ${figure(atMost)}${unit}`;
