import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The quoted first argument of `it`, `test` and `describe`, and of the call after `.each(…)`, with the indentation of its line. */
function titledIn(source: string): { indent: string; title: string }[] {
  const quoted = source.matchAll(/(?:\b(?:it|test|describe)(?:\.\w+)*|\))\(\s*(['"`])((?:\\.|(?!\1).)*)\1,/gs);
  return [...quoted].map(({ index, 2: title = '' }) => ({
    indent: /^ */.exec(source.slice(source.lastIndexOf('\n', index) + 1))![0],
    title: title.replaceAll(/\\(.)/g, '$1'),
  }));
}

/** What the tests and groups of a file are called. */
export function titlesIn(source: string): Set<string> {
  return new Set(titledIn(source).map(({ title }) => title));
}

/** The groups and tests of a file as a nested list of Markdown, in their order. */
export function outlineOf(source: string): string {
  return titledIn(source)
    .map(({ indent, title }) => `${indent}- ${title}`)
    .join('\n');
}

/** Whether a file of tests has a test or group of that name. */
export function hasTest(file: string, title: string): boolean {
  return existsSync(join(root, file)) && titlesIn(readFileSync(join(root, file), 'utf8')).has(title);
}

/** The tests that a cell names as `file`: "title"; "title". */
export const proofsIn = (cell: string) =>
  [...cell.matchAll(/`([\w./-]+)`: ((?:"[^"]+"(?:; )?)+)/g)].flatMap(([, file = '', titles = '']) =>
    [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => ({ file, title })),
  );
