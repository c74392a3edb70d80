import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** What a test or group is called with: the quoted first argument of `it`, `test` and `describe`, and of the call after `.each(…)`. */
export function titlesIn(source: string): Set<string> {
  const quoted = source.matchAll(/(?:\b(?:it|test|describe)(?:\.\w+)*|\))\(\s*(['"`])((?:\\.|(?!\1).)*)\1,/gs);
  return new Set([...quoted].map(([, , title = '']) => title.replaceAll(/\\(.)/g, '$1')));
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
