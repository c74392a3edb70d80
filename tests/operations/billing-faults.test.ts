import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const document = readFileSync(join(root, 'worker/docs/billing-faults.md'), 'utf8');

/** The cells of each row that begins with a number. */
const rows = [...document.matchAll(/^\| (\d+) +\| (.*) \|$/gm)].map(([, number = '', rest = '']) => ({
  number: Number(number),
  cells: rest.split(/ +\| /).map((cell) => cell.trim()),
}));

/** What a test is called with: the quoted first argument of `it`, `test`, and the call after `.each(…)`. */
function titlesIn(source: string): Set<string> {
  const quoted = source.matchAll(/(?:\b(?:it|test)(?:\.\w+)*|\))\(\s*(['"`])((?:\\.|(?!\1).)*)\1,/gs);
  return new Set([...quoted].map(([, , title = '']) => title.replaceAll(/\\(.)/g, '$1')));
}

it('numbers at least 47 faults without a gap', () => {
  expect(rows.length).toBeGreaterThanOrEqual(47);
  expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1));
});

it.each(rows)('says of fault $number what everybody holds, and names tests that exist', ({ cells }) => {
  expect(cells).toHaveLength(5);
  for (const cell of cells) expect(cell).not.toBe('');
  const proofs = [...cells[4]!.matchAll(/`([\w./-]+)`: ((?:"[^"]+"(?:; )?)+)/g)].flatMap(([, file = '', titles = '']) =>
    [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => ({ file, title })),
  );
  expect(proofs.length).toBeGreaterThan(0);
  for (const { file, title } of proofs) {
    expect(existsSync(join(root, file)), file).toBe(true);
    expect(titlesIn(readFileSync(join(root, file), 'utf8')), file).toContain(title);
  }
});

it('knows a title when it sees one', () => {
  const source = `it('a', () => {});\ntest.each([1])('b %s', f);\n  it(\n    "c's",\n    f);\nexpect(x).toBe('d', 1);\nsay('e', 1)`;
  expect([...titlesIn(source)]).toEqual(['a', 'b %s', "c's"]);
});
