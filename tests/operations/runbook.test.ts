import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@libsql/client/sqlite3';
import { beforeAll, expect, it } from 'vitest';
import { settingNames } from '../../worker/operations/doctor/run-checks.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = readFileSync(`${root}/worker/docs/runbook.md`, 'utf8');
const blocks = (language: string) =>
  [...text.matchAll(new RegExp(`^ *\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'gm'))].map(([, code = '']) => code.trim());

let database: Client;
beforeAll(async () => {
  database = createClient({ url: ':memory:' });
  const folder = `${root}/drizzle/migrations`;
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()) {
    await database.executeMultiple(
      readFileSync(`${folder}/${file}`, 'utf8').replaceAll('--> statement-breakpoint', ''),
    );
  }
});

it.each(blocks('sql'))('asks a question that can be asked: %s', async (query) => {
  await expect(database.execute(`select * from (${query})`)).resolves.toBeDefined();
});

it.each(blocks('sql write'))('changes what can be changed: %s', async (statement) => {
  await expect(database.execute(statement)).resolves.toBeDefined();
});

it('says how each secret is rotated', () => {
  const secrets = settingNames.filter((name) => /SECRET|TOKEN$|KEYS|PEPPER/.test(name));
  for (const name of secrets) expect(text).toMatch(new RegExp(`^- \`${name}\`.*:`, 'm'));
});
