import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { withFigures } from '../bench/figures.ts';

const page = readFileSync('tests/bench/README.md', 'utf8');
const figuresIn = (document: string) =>
  document
    .slice(document.indexOf('The newest run'))
    .split('\n')
    .filter((line) => /^[a-z] {3,}/.test(line))
    .map((line) => line.split(/ {2,}/));

const target = { what: 'me, p50', value: 1.0456, atMost: 1.05 };
const partOf = (targets: (typeof target)[]) => ({
  title: '',
  header: [],
  rows: [],
  targets,
});
const run = { date: '2030-01-02 03:04', machine: 'a machine' };

it('replaces the figures of the parts that were measured, and keeps all others', () => {
  const before = figuresIn(page);
  const written = withFigures(page, {
    ...run,
    parts: { h: partOf([target]) },
  });
  const after = figuresIn(written);
  const others = (rows: string[][]) => rows.filter(([letter]) => letter !== 'h');
  expect(before.length).toBeGreaterThan(10);
  expect(others(after)).toEqual(others(before));
  expect(after.filter(([letter]) => letter === 'h')).toEqual([
    ['h', 'me, p50', '1.05', '1.05', '2030-01-02'],
  ]);
  expect(written).toContain('The newest run: 2030-01-02 03:04 UTC, a machine.');
  expect(withFigures(written, { ...run, parts: {} })).toBe(written);
});

it('sorts the parts, and says which figures are reported alone', () => {
  const parts = {
    z: partOf([{ ...target, atMost: Infinity }]),
    a: partOf([target]),
  };
  const letters = figuresIn(
    withFigures(page, {
      ...run,
      parts,
    }),
  ).map(([letter = '']) => letter);
  expect(letters).toEqual(letters.toSorted((a, b) => a.localeCompare(b)));
  expect(
    withFigures(page, {
      ...run,
      parts,
    }),
  ).toMatch(/^z .+ 1\.05 +reported /m);
});

it('writes the table as the formatter writes it', () => {
  const written = withFigures(page, {
    ...run,
    parts: { a: partOf([target]) },
  });
  const formatter = ['oxfmt', '--stdin-filepath', 'tests/bench/README.md'];
  expect(
    execFileSync('npx', formatter, {
      input: written,
      encoding: 'utf8',
    }),
  ).toBe(written);
});

it('writes nothing into a document without a place for it', () => {
  expect(() =>
    withFigures('# Benchmarks', {
      ...run,
      parts: {},
    }),
  ).toThrow('have no place');
});
