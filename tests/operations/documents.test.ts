import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, beforeAll } from 'vitest';
import { settingNames } from '../../worker/operations/doctor/run-checks.ts';
import { OwnerSettings } from '../../worker/operations/target.ts';
import { createClient, type Client } from '@libsql/client/sqlite3';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
const documents = tracked.filter((file) => file.endsWith('.md'));
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** Names of others that look like settings of ours. */
const notOurs = ['SUPPORT_AUDIT_FILE', 'MODEL_URL', 'MODEL_KEY', 'MODEL_NAME', 'TURSO_', 'SANDBOX_PORT', 'BENCH_PORT'];

it('finds the documents', () => {
  expect(documents).toEqual(expect.arrayContaining(['README.md', 'worker/docs/runbook.md', 'worker/docs/cost.md']));
});

describe.each(documents)('what %s names is there', (document) => {
  const text = read(document);
  const named = (pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))];

  it('as scripts', () => {
    for (const script of named(/npm run (?:-s |--silent )?([\w:]+)/g)) expect(Object.keys(scripts)).toContain(script);
  });

  it('as programs', () => {
    const ofDependencies = named(/npx ([\w-]+)/g).filter((name) => name !== 'playwright');
    for (const program of ofDependencies) expect(existsSync(join(root, 'node_modules/.bin', program))).toBe(true);
  });

  it('as files', () => {
    const missing = named(/(?<![\w/.])((?:worker|web|drizzle|tests|\.github|\.ci)\/[\w./-]*\w)/g).filter(
      (path) => !tracked.some((file) => file === path || file.startsWith(`${path}/`)),
    );
    expect(missing).toEqual([]);
  });

  it('as settings', () => {
    for (const name of named(/`([A-Z][A-Z]+_[A-Z_]+[A-Z]|TURSO_)`/g))
      expect([...settingNames, ...Object.keys(OwnerSettings.entries), ...notOurs]).toContain(name);
  });

  it('as links to other documents', () => {
    const links = named(/\]\((?!https?:|mailto:|#)([^)#]+)/g).map((link) => join(document, '..', link));
    for (const link of links) expect(tracked).toContain(link);
  });
});

it('names every script in a document', () => {
  const all = documents.map(read).join('\n');
  const parts = /^(?:build|test|types|lint|format)(?::|$)/;
  const names = Object.keys(scripts).filter((name) => !parts.test(name));
  expect(names.filter((name) => !all.includes(`npm run ${name}`))).toEqual([]);
});

const runbook = read('worker/docs/runbook.md');
const blocks = (language: string) =>
  [...runbook.matchAll(new RegExp(`^ *\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'gm'))].map(([, code = '']) =>
    code.trim(),
  );

describe('the runbook', () => {
  let database: Client;
  beforeAll(async () => {
    database = createClient({ url: ':memory:' });
    const folder = join(root, 'drizzle/migrations');
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
    for (const name of secrets) expect(runbook).toMatch(new RegExp(`^- \`${name}\`.*:`, 'm'));
  });
});
