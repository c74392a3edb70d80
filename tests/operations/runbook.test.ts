import { readFileSync } from 'node:fs';
import { describe, expect, it, beforeAll } from 'vitest';
import { settingNames } from '../../worker/operations/doctor/run-checks.ts';
import { createClient } from '@libsql/client/sqlite3';
import { drizzle } from 'drizzle-orm/libsql/sqlite3';
import { migrate } from 'drizzle-orm/libsql/migrator';
import { titlesIn } from '../rules/test-titles.ts';
import { secretProofs } from './secret-proofs.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const runbook = read('worker/docs/runbook.md');
const blocks = (language: string) =>
  [...runbook.matchAll(new RegExp(`^ *\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'gm'))].map(
    ([, code = '']) => code.trim(),
  );

describe('the runbook', () => {
  const database = createClient({ url: ':memory:' });
  beforeAll(() => migrate(drizzle(database), { migrationsFolder: 'drizzle/migrations' }));

  it.each(blocks('sql'))('asks a question that can be asked: %s', async (query) => {
    await expect(database.execute(`select * from (${query})`)).resolves.toBeDefined();
  });

  it.each(blocks('sql write'))('changes what can be changed: %s', async (statement) => {
    await expect(database.execute(statement)).resolves.toBeDefined();
  });

  it('names a version wherever it goes back to one', () => {
    expect(runbook.match(/.*wrangler rollback(?! ID).*/g)).toBeNull();
    expect(runbook).toContain('npx wrangler versions deploy ID@100 --env production --yes');
  });

  it('says how each secret is rotated', () => {
    const secrets = settingNames.filter((name) => /SECRET|TOKEN$|KEYS|PEPPER/.test(name));
    for (const name of secrets) expect(runbook).toMatch(new RegExp(`^- \`${name}\`.*:`, 'm'));
  });
});

describe('the table of what each secret opens', () => {
  const [, section = ''] = runbook.split(/^## What each secret opens$/m);
  const rows = [...section.split(/^## /m)[0]!.matchAll(/^\| (?!-|secrets)(.*?) +\| (.+?) +\|$/gm)];

  it('has a row for each of the five, alone and in pairs, and for each proof', () => {
    expect(rows.length).toBeGreaterThanOrEqual(15);
    expect(rows.map(([, secrets]) => secrets)).toEqual(Object.keys(secretProofs));
    for (const [row, , opens = ''] of rows) expect(opens.length, row).toBeGreaterThan(5);
  });

  it.each(Object.entries(secretProofs))(
    'names for %s a test that exists, or the reason why there is none',
    (_, proofs) => {
      if (typeof proofs === 'string') return expect(proofs).toMatch(/^\w.{10,}/);
      expect(Object.values(proofs).flat()).not.toEqual([]);
      for (const [file, titles] of Object.entries(proofs))
        for (const title of titles) expect(titlesIn(read(file))).toContain(title);
    },
  );
});
