import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasTest, proofsIn, titlesIn } from '../rules/test-titles.ts';

const root = join(import.meta.dirname, '../..');
const document = readFileSync(join(root, 'worker/docs/billing-faults.md'), 'utf8');

/** The cells of each row that begins with a number. */
const rows = [...document.matchAll(/^\| (\d+) +\| (.*) \|$/gm)].map(([, number = '', rest = '']) => ({
  number: Number(number),
  cells: rest.split(/ +\| /).map((cell) => cell.trim()),
}));

it('numbers at least 47 faults without a gap', () => {
  expect(rows.length).toBeGreaterThanOrEqual(47);
  expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1));
});

it.each(rows)('says of fault $number what everybody holds, and names tests that exist', ({ cells }) => {
  expect(cells).toHaveLength(5);
  for (const cell of cells) expect(cell).not.toBe('');
  const proofs = proofsIn(cells[4]!);
  expect(proofs.length).toBeGreaterThan(0);
  expect(proofs.filter(({ file, title }) => !hasTest(file, title))).toEqual([]);
});

it('knows a title when it sees one', () => {
  const source = `it('a', () => {});\ntest.each([1])('b %s', f);\n  it(\n    "c's",\n    f);\nexpect(x).toBe('d', 1);\nsay('e', 1)`;
  expect([...titlesIn(source)]).toEqual(['a', 'b %s', "c's"]);
});

describe('the table of what each secret opens', () => {
  const [, section = ''] = readFileSync(join(root, 'worker/docs/runbook.md'), 'utf8').split(
    /^## What each secret opens$/m,
  );
  const secrets = [...section.split(/^## /m)[0]!.matchAll(/^\| (?!-|secrets)(.*) \|$/gm)].map(([, row = '']) => ({
    cells: row.split(/ +\| /).map((cell) => cell.trim()),
  }));

  it('has a row for each of the five, alone and in pairs', () => {
    expect(secrets.length).toBeGreaterThanOrEqual(15);
  });

  it.each(secrets)('names for $cells.0 a test that exists, or the reason why there is none', ({ cells }) => {
    expect(cells).toHaveLength(3);
    const proofs = proofsIn(cells[2]!);
    expect(proofs.filter(({ file, title }) => !hasTest(file, title))).toEqual([]);
    if (proofs.length === 0) expect(cells[2]).toMatch(/^no test: \w/);
  });
});
