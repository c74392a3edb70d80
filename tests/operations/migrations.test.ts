import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const folder = new URL('../../drizzle/migrations/', import.meta.url);
const journal = JSON.parse(readFileSync(new URL('meta/_journal.json', folder), 'utf8')) as {
  entries: { idx: number; tag: string; when: number }[];
};
const files = readdirSync(folder).filter((name) => name.endsWith('.sql'));

/** The reason why a statement would break the running version while it is applied, or null. */
function problem(statement: string, created: Set<string>): string | null {
  const [, table = ''] = /(?:TABLE|ON) `(\w+)`/i.exec(statement) ?? [];
  if (/^CREATE TABLE/i.test(statement)) {
    created.add(table);
    return null;
  }
  if (/^CREATE UNIQUE INDEX/i.test(statement))
    return created.has(table) ? null : 'may refuse what the old version writes';
  if (/^(CREATE (INDEX|TRIGGER)|INSERT|UPDATE)/i.test(statement)) return null;
  if (!/^ALTER TABLE `\w+` ADD /i.test(statement)) return 'takes away what the old version uses';
  return /NOT NULL/i.test(statement) && !/DEFAULT/i.test(statement) ? 'the old version does not fill it' : null;
}

function troubles(text: string): string[] {
  const created = new Set<string>();
  const statements = text.split('--> statement-breakpoint').map((statement) => statement.trim());
  return statements.flatMap((statement) => {
    const why = problem(statement, created);
    return why ? [`${why}: ${statement}`] : [];
  });
}

it('stand in the journal, all of them, in the order of their time', () => {
  expect(journal.entries.map(({ tag }) => `${tag}.sql`)).toEqual(files.toSorted());
  const times = journal.entries.map(({ when }) => when);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

/** Removals have their own migration, named `…_contract`, after no running version reads the column any more. */
it.each(files.filter((file) => !file.endsWith('_contract.sql')))('%s only adds', (file) => {
  expect(troubles(readFileSync(new URL(file, folder), 'utf8'))).toEqual([]);
});

describe('the rule itself', () => {
  it.each([
    'DROP TABLE `users`;',
    'ALTER TABLE `users` DROP COLUMN `used`;',
    'ALTER TABLE `users` RENAME COLUMN `used` TO `spent`;',
    'ALTER TABLE `users` ADD `name` text NOT NULL;',
    'CREATE UNIQUE INDEX `one` ON `users` (`name`);',
  ])('refuses %s', (statement) => {
    expect(troubles(statement)).toHaveLength(1);
  });

  it('lets columns come that may be empty or have a default', () => {
    expect(
      troubles(
        'ALTER TABLE `u` ADD `a` text;--> statement-breakpoint\nALTER TABLE `u` ADD `b` integer DEFAULT 0 NOT NULL;',
      ),
    ).toEqual([]);
  });
});
