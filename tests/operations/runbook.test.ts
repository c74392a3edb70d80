import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@libsql/client/sqlite3';
import { beforeAll, expect, it } from 'vitest';
import { settingNames } from '../../worker/operations/doctor/checks/settings.ts';

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

it('explains every event of the log', () => {
  const files = readdirSync(`${root}/worker`, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const sources = files.map((name) => readFileSync(`${root}/worker/${name}`, 'utf8')).join('\n');
  const written = [...sources.matchAll(/\blog\(.*?, '(\w+)'/g)].map(([, event = '']) => event);
  expect(written.length).toBeGreaterThan(5);
  for (const event of written) expect(text).toMatch(new RegExp(`^- \`${event}\`.*: `, 'm'));
});
