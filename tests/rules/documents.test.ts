import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OwnerSettings } from '../../worker/operations/owner-command.ts';
import { memoize } from '../../worker/lib/memoize.ts';
import { SettingRules } from '../../worker/setting-rules.ts';
import { facts } from './document-facts.ts';

const read = memoize((file: string) => readFileSync(file, 'utf8'));
const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => existsSync(file));
const documents = tracked.filter((file) => file.endsWith('.md'));
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const folders = new Set(tracked.map(dirname).flatMap((path) => pathsAbove(path)));

function pathsAbove(path: string): string[] {
  return path === '.' ? [path] : [path, ...pathsAbove(dirname(path))];
}

const isThere = (path: string) => tracked.includes(path) || folders.has(path);

/** Names of others that look like settings of ours. */
const notOurs =
  /^(SUPPORT_AUDIT_FILE|MODEL_(URL|KEY|NAME)|WHATSAPP_URL|TURSO_|(SANDBOX|BENCH)_PORT|TEST_FULL)$/;
const settings = [...Object.keys(SettingRules.entries), ...Object.keys(OwnerSettings.entries)];

/** The anchors that GitHub gives the headings of a document. */
const anchorsOf = memoize((document: string) =>
  [...read(document).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\d _-]/gu, '')
      .replaceAll(' ', '-'),
  ),
);

function hasAnchor(link: string, document: string): boolean {
  const [path, anchor = ''] = link.split('#');
  return anchorsOf(path ? join(dirname(document), path) : document).includes(anchor);
}

/** The source of the command behind a script: its file, and those beside it. */
const sourceOf = memoize((script: string) => {
  const [file = ''] = /\S+\.ts\b/.exec(scripts[script] ?? '') ?? [];
  const beside = globSync(`${dirname(file)}/*.ts`);
  return [...beside, 'worker/operations/owner-command.ts'].map(read).join('\n');
});

/** Whether a command knows the word or the flag that comes first after `--`. */
function isKnown(call: string): boolean {
  const [, script = '', word = ''] = /^(\S+) -- (?:--)?([a-z][\w-]*)/.exec(call)!;
  if (/vitest|playwright/.test(scripts[script]!)) return true;
  return new RegExp(`(['"\`]|--)${word}\\b|^\\s*(async )?${word}[:,(]`, 'm').test(sourceOf(script));
}

/**
 * Files in code quotes; `<page>` and `*` stand for any
 * name, so that such a path only names its folder.
 */
const quotedPath =
  /`((?:[\w.*<>-]+\/)*(?:[\w.*<>-]+\.(?:tsx?|mjs|json|sql|toml|md|css)|[\w-]+\/))`/g;

type Kind = [kind: string, named: RegExp, isThere: (name: string, document: string) => boolean];

/** What documents name, by the pattern of its name, and whether it is there. */
const kinds: Kind[] = [
  ['script', /npm run (?:-s |--silent )?([\w:]+(?:-\w+)*)/g, (name) => name in scripts],
  ['word or flag of a command', /npm run (?:-s )?([\w:-]+ -- -{0,2}[a-z][\w-]*)/g, isKnown],
  ['program', /npx (?!playwright)([\w-]+)/g, (name) => existsSync(`node_modules/.bin/${name}`)],
  ['file', /(?<![\w/.])((?:worker|web|drizzle|tests|\.github|\.ci)\/[\w./-]*\w)/g, isThere],
  [
    'setting',
    /`([A-Z][A-Z]+_[A-Z_]+[A-Z]|TURSO_)`/g,
    (name) => notOurs.test(name) || settings.includes(name),
  ],
  [
    'linked file',
    /\]\((?!https?:|mailto:|#)([^)#]+)/g,
    (link, document) => isThere(join(dirname(document), link).replace(/\/$/, '')),
  ],
  ['linked heading', /\]\((?!https?:)([^)#]*#[^)]+)\)/g, hasAnchor],
  ['path', quotedPath, leadsSomewhere],
];

/** Paths in code quotes begin at the root. */
function leadsSomewhere(path: string): boolean {
  return isThere(path.replace(/\/$/, '').replace(/\/?[^/]*[<*].*$/, ''));
}

/** What a document names and is not there: its file, its line, and what to do. */
function deadNames(document: string, [kind, named, exists]: Kind): string[] {
  const text = read(document);
  const lineAt = (index: number) => text.slice(0, index).split('\n').length;
  return [...text.matchAll(named)]
    .filter(([, name = '']) => !exists(name, document))
    .map(({ 1: name, index }) => `${document}:${lineAt(index)}: ${remedy(kind, name!)}`);
}

const remedy = (kind: string, name: string) =>
  `there is no ${kind} "${name}": correct it, or take it out`;

describe.each(documents)('what %s names is there', (document) => {
  it.each(kinds)('as %s', (...kind) => {
    expect(deadNames(document, kind)).toEqual([]);
  });
});

it('says where a document names what is not there, and what to do', () => {
  const [script] = kinds;
  const isGone = [script![0], script![1], (name: string) => name !== 'dev'] satisfies Kind;
  const [first] = deadNames('README.md', isGone);
  expect(first).toMatch(
    /^README\.md:[1-9]\d*: there is no script "dev": correct it, or take it out$/,
  );
});

it('names every script in a document', () => {
  const all = documents.map(read).join('\n');
  const parts = /^(?:build|test|types|lint|format)(?::|$)/;
  const names = Object.keys(scripts).filter((name) => !parts.test(name));
  expect(names.filter((name) => !all.includes(`npm run ${name}`))).toEqual([]);
});

describe.each(Object.entries(facts))('%s', (document, phrases) => {
  const words = read(document).replaceAll(/\s+/g, ' ');

  it.each(phrases)('says: %s', (phrase) => {
    expect(words).toContain(phrase);
  });
});

it('names tests of the API in the security checklist, alone or by their paths', () => {
  const others = ['jti', 'kid', 'exp', 'nbf', 'no-store', 'seq'];
  const names = [...read('worker/docs/asvs.md').matchAll(/`([a-z]+(?:-[a-z]+)*)`/g)];
  const tests = names.map(([, name = '']) => name).filter((name) => !others.includes(name));
  expect(tests.length).toBeGreaterThan(50);
  expect(tests.filter((name) => !isThere(`tests/api/${name}.test.ts`))).toEqual([]);
});

const indexes = documents.filter((document) => read(document).includes('## Where do I change'));

it.each(indexes.filter((document) => document !== 'README.md'))(
  'names places in %s by the word that one looks for',
  (document) => {
    const [, index = ''] = read(document).split('## Where do I change');
    const lines = index.split('```')[1]!.trim().split('\n');
    const words = lines.map((line) => line.split('  ')[0]!.toLowerCase());
    expect(words).toEqual([...new Set(words)].toSorted());
  },
);

it('is short: all documents together have at most 23,000 words, and README 90 lines', () => {
  const words = documents.flatMap((document) => read(document).split(/\s+/).filter(Boolean));
  expect(words.length).toBeLessThanOrEqual(23_000);
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(90);
});
