import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, beforeAll } from 'vitest';
import { settingNames } from '../../worker/operations/doctor/run-checks.ts';
import { OwnerSettings } from '../../worker/operations/target.ts';
import { createClient, type Client } from '@libsql/client/sqlite3';
import { hasTest, outlineOf, proofsIn, titlesIn } from '../rules/test-titles.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
const documents = tracked.filter((file) => file.endsWith('.md'));
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** Names of others that look like settings of ours. */
const notOurs = [
  'SUPPORT_AUDIT_FILE',
  'MODEL_URL',
  'MODEL_KEY',
  'MODEL_NAME',
  'WHATSAPP_URL',
  'TURSO_',
  'SANDBOX_PORT',
  'BENCH_PORT',
];

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

/** What each of these files proves is a section of `worker/docs/billing-faults.md`. */
const billingTests = [
  'tests/api/billing.test.ts',
  'tests/api/billing-faults.test.ts',
  'tests/api/billing-webhook.test.ts',
  'tests/api/billing-lease.test.ts',
  'tests/api/renewals.test.ts',
  'tests/api/plan-journeys.test.ts',
  'tests/api/prices.test.ts',
  'tests/api/lost-customers.test.ts',
  'tests/api/trials.test.ts',
  'tests/rules/derive.test.ts',
  'tests/rules/derive-laws.test.ts',
  'tests/rules/entitlement.test.ts',
  'tests/rules/due.test.ts',
];

it('knows every test of billing in worker/docs/billing-faults.md, which `npx vitest -u` writes anew', async () => {
  expect(billingTests).toEqual(
    expect.arrayContaining(tracked.filter((file) => /^tests\/api\/billing.*\.test\.ts$/.test(file))),
  );
  const [byHand = ''] = read('worker/docs/billing-faults.md').split(/(?<=^## What the tests prove$\n)/m);
  const sections = billingTests.map((file) => `### \`${file}\`\n\n${outlineOf(read(file))}\n`);
  await expect(`${byHand}\n${sections.join('\n')}`).toMatchFileSnapshot(join(root, 'worker/docs/billing-faults.md'));
});

it('knows a title when it sees one', () => {
  const source = `it('a', () => {});\ntest.each([1])('b %s', f);\n  it(\n    "c's",\n    f);\nexpect(x).toBe('d', 1);\nsay('e', 1)`;
  expect([...titlesIn(source)]).toEqual(['a', 'b %s', "c's"]);
});

describe('the table of what each secret opens', () => {
  const [, section = ''] = read('worker/docs/runbook.md').split(/^## What each secret opens$/m);
  const secrets = [...section.split(/^## /m)[0]!.matchAll(/^\| (?!-|secrets)(.*) \|$/gm)].map(([, row = '']) => ({
    cells: row.split(/ +\| /).map((cell) => cell.trim()),
  }));

  it('has a row for each of the five, alone and in pairs', () => {
    expect(secrets.length).toBeGreaterThanOrEqual(15);
  });

  it.each(secrets)('names for $cells.0 a test that exists, or the reason why there is none', ({ cells }) => {
    expect(cells).toHaveLength(3);
    const proofs = proofsIn(cells[2]!);
    expect(proofs.filter(({ file, title }) => !hasTest(file, title))).toEqual([]);
    if (proofs.length === 0) expect(cells[2]).toMatch(/^no test: \w/);
  });
});
