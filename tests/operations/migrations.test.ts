import { readFileSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';

const folder = new URL('../../drizzle/migrations/', import.meta.url);
const journal = JSON.parse(readFileSync(new URL('meta/_journal.json', folder), 'utf8')) as {
  entries: { idx: number; tag: string; when: number }[];
};
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.sql'))
  .toSorted();

/** Each statement that would break the running version while it is applied, after the reason. */
function troubles(text: string): string[] {
  const statements = text.split('--> statement-breakpoint').map((statement) => statement.trim());
  const tableOf = (statement: string) => /(?:TABLE|ON) `(\w+)`/i.exec(statement)?.[1];
  const created = statements.filter((statement) => /^CREATE TABLE/i.test(statement)).map(tableOf);
  return statements.flatMap((statement) => {
    const why = problem(statement, created.includes(tableOf(statement)));
    return why ? [`${why}: ${statement}`] : [];
  });
}

function problem(statement: string, isNewTable: boolean): string | null {
  if (/^CREATE UNIQUE INDEX/i.test(statement)) return isNewTable ? null : 'may refuse what the old version writes';
  if (/^CREATE TRIGGER/i.test(statement) && /INSERT INTO `\w+` (?:SELECT|VALUES)/i.test(statement))
    return 'names no columns, so that it fails once the next version adds one';
  if (/^(CREATE (TABLE|INDEX|TRIGGER)|INSERT|UPDATE)/i.test(statement)) return null;
  if (!/^ALTER TABLE `\w+` ADD /i.test(statement)) return 'takes away what the old version uses';
  return /NOT NULL/i.test(statement) && !/DEFAULT/i.test(statement) ? 'the old version does not fill it' : null;
}

it('stand in the journal, all of them, in the order of their time', () => {
  expect(journal.entries.map(({ tag }) => `${tag}.sql`)).toEqual(files);
  const times = journal.entries.map(({ when }) => when);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

/** Removals have their own migration, named `…_contract`, after no running version reads the column any more. */
it.each(files.filter((file) => !file.endsWith('_contract.sql')))('%s only adds', (file) => {
  expect(troubles(readFileSync(new URL(file, folder), 'utf8'))).toEqual([]);
});

it.each([
  'DROP TABLE `users`;',
  'ALTER TABLE `users` DROP COLUMN `used`;',
  'ALTER TABLE `users` RENAME COLUMN `used` TO `spent`;',
  'ALTER TABLE `users` ADD `name` text NOT NULL;',
  'CREATE UNIQUE INDEX `one` ON `users` (`name`);',
  'CREATE TRIGGER `one` AFTER INSERT ON `users` BEGIN INSERT INTO `other` SELECT new.`id`; END;',
])('refuses %s', (statement) => {
  expect(troubles(statement)).toHaveLength(1);
});
