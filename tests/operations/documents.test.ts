import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, beforeAll } from 'vitest';
import { settingNames } from '../../worker/operations/doctor/run-checks.ts';
import { OwnerSettings } from '../../worker/operations/owner-command.ts';
import { createClient } from '@libsql/client/sqlite3';
import { drizzle } from 'drizzle-orm/libsql/sqlite3';
import { migrate } from 'drizzle-orm/libsql/migrator';
import { titlesIn } from '../rules/test-titles.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n');
const documents = tracked.filter((file) => file.endsWith('.md'));
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** Names of others that look like settings of ours. */
const notOurs =
  /^(SUPPORT_AUDIT_FILE|MODEL_(URL|KEY|NAME)|WHATSAPP_URL|TURSO_|(SANDBOX|BENCH)_PORT)$/;

/** What documents name, by the pattern of its name, and whether it is there. */
const kinds: [kind: string, named: RegExp, isThere: (name: string, document: string) => boolean][] =
  [
    ['script', /npm run (?:-s |--silent )?([\w:]+(?:-\w+)*)/g, (name) => name in scripts],
    ['program', /npx (?!playwright)([\w-]+)/g, (name) => existsSync(`node_modules/.bin/${name}`)],
    [
      'file',
      /(?<![\w/.])((?:worker|web|drizzle|tests|\.github|\.ci)\/[\w./-]*\w)/g,
      (path) => tracked.some((file) => file === path || file.startsWith(`${path}/`)),
    ],
    [
      'setting',
      /`([A-Z][A-Z]+_[A-Z_]+[A-Z]|TURSO_)`/g,
      (name) =>
        notOurs.test(name) ||
        [...settingNames, ...Object.keys(OwnerSettings.entries)].includes(name),
    ],
    [
      'link',
      /\]\((?!https?:|mailto:|#)([^)#]+)/g,
      (link, document) => tracked.includes(join(document, '..', link)),
    ],
  ];

const folders = new Set(tracked.map(dirname).flatMap((path) => pathsAbove(path)));

function pathsAbove(path: string): string[] {
  return path === '.' ? [path] : [path, ...pathsAbove(dirname(path))];
}

/** Files in code quotes; `<page>` and `*` stand for any name, so that such a path only names its folder. */
const quotedPath =
  /`((?:[\w.*<>-]+\/)*(?:[\w.*<>-]+\.(?:tsx?|mjs|json|sql|toml|md|css)|[\w-]+\/))`/g;

/** Paths that lead nowhere. They begin at the root, at the document's folder, or at that of the path before. */
function deadPaths(document: string): string[] {
  const dead: string[] = [];
  let before = dirname(document);
  for (const [, path = ''] of read(document).matchAll(quotedPath)) {
    const places = ['', dirname(document), before].map((place) => join(place, path));
    const named = places.map((place) => place.replace(/\/$/, '').replace(/\/?[^/]*[<*].*$/, ''));
    const found = named.find((place) => tracked.includes(place) || folders.has(place));
    if (found === undefined) dead.push(path);
    else before = folders.has(found) ? found : dirname(found);
  }
  return dead;
}

it.each(documents)('%s names no dead path', (document) => {
  expect(deadPaths(document)).toEqual([]);
});

describe.each(documents)('what %s names is there', (document) => {
  it.each(kinds)('as %s', (_, named, isThere) => {
    const names = [...read(document).matchAll(named)].map(([, name = '']) => name);
    expect(names.filter((name) => !isThere(name, document))).toEqual([]);
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
  const [, section = ''] = read('worker/docs/runbook.md').split(/^## What each secret opens$/m);
  const rows = section.split(/^## /m)[0]!.matchAll(/^\| (?!-|secrets)(.*) \|$/gm);
  const secrets = [...rows].map(([, row = '']) => ({
    cells: row.split(/ +\| /).map((cell) => cell.trim()),
  }));

  it('has a row for each of the five, alone and in pairs', () => {
    expect(secrets.length).toBeGreaterThanOrEqual(15);
  });

  it.each(secrets)(
    'names for $cells.0 a test that exists, or the reason why there is none',
    ({ cells }) => {
      expect(cells).toHaveLength(3);
      const proofs = [...cells[2]!.matchAll(/`([\w./-]+)`: ((?:"[^"]+"(?:; )?)+)/g)];
      for (const [, file = '', titles = ''] of proofs)
        for (const [, title = ''] of titles.matchAll(/"([^"]+)"/g))
          expect(titlesIn(read(file))).toContain(title);
      if (proofs.length === 0) expect(cells[2]).toMatch(/^no test: \w/);
    },
  );
});
