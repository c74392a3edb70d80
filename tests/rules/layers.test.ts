import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const scope = ['worker/settings.ts', 'worker/setting-rules.ts', 'worker/request-scope.ts'];
const under = ['worker/contract', 'worker/lib', ...scope, 'drizzle'];
const users = [...under, 'worker/env.ts', 'worker/identity', 'worker/usage'];
const features = [...users, 'worker/bot', 'worker/live'];
const featuresAnd = (...names: string[]) => [...features, ...names.map((name) => `worker/${name}`)];
const shown = ['web/rules', 'web/words', 'web/theme', 'web/styled-system', 'worker/contract'];
const agreed = ['web/start/early-start.ts', 'web/start/protocol.ts'];

/** What the files of a part may import besides the part itself. The longest name that fits a file is its part. */
const layers: Record<string, string[]> = {
  'worker/contract': [],
  'worker/lib': ['worker/contract', 'drizzle'],
  'worker/setting-rules.ts': ['worker/contract', 'worker/lib'],
  'worker/settings.ts': ['worker/setting-rules.ts', 'worker/lib'],
  'worker/messaging': under,
  'worker/identity': under,
  'worker/usage': [...under, 'worker/identity'],
  'worker/bot': users,
  'worker/live': users,
  'worker/push': users,
  'worker/sign-in': featuresAnd('messaging'),
  'worker/trials': features,
  'worker/chat': features,
  'worker/billing': features,
  'worker/withdrawal': featuresAnd('billing', 'messaging'),
  'worker/account': featuresAnd(
    'sign-in',
    'trials',
    'chat',
    'billing',
    'withdrawal',
    'push',
    'messaging',
  ),
  'worker/http': featuresAnd('sign-in'),
  'worker/endpoints': featuresAnd(
    'http',
    'account',
    'sign-in',
    'trials',
    'chat',
    'billing',
    'withdrawal',
    'push',
    'messaging',
  ),
  'worker/operations': ['worker', 'drizzle'],
  worker: ['worker', '!worker/operations'],
  'web/words': ['web/theme', 'worker/contract'],
  'web/theme': [],
  'web/rules': shown,
  'web/ui': shown,
  'web/data': [...agreed, ...shown],
  // No page imports another one.
  'web/pages/*': ['web/data', 'web/ui', ...agreed, ...shown],
  'web/app': ['web', 'worker/contract', '!web/routes', '!web/build', '!web/start/chat'],
  'web/start': ['web', 'worker/contract', '!web/routes', '!web/build', '!web/start/chat'],
  // An island: only the build knows it.
  'web/start/chat': ['web', 'worker/contract', '!web/routes', '!web/build'],
  'web/start/early-start.ts': ['web/start/protocol.ts', 'web/data/fetch-in-time.ts'],
  'web/start/protocol.ts': ['web/data/fetch-in-time.ts', 'worker/contract'],
  'web/build': ['web', 'worker/contract', 'worker/operations/command-line.ts'],
  web: ['web', 'worker/contract', '!web/build', '!web/start/chat'],
  drizzle: [],
  // A guest: another project could take its folder.
  'tests/sandbox/stripe': [],
  'tests/sandbox': ['drizzle', 'tests/sandbox/stripe'],
};

/** The packages that a part may import, where there is such a rule. */
const packages: Record<string, string[]> = { 'worker/contract': ['package valibot'] };

/** Files of these names may be several: the router's, the words of a language, the recipes. */
const mayRepeat = /^web\/(routes|words|theme\/recipes)\/|\/index\.tsx?$|\.d\.ts$/;

type Import = { from: string; to: string };

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /^(worker|web|drizzle|tests)\/.*\.tsx?$/.test(file) && existsSync(file));

const aliases: [RegExp, string][] = [
  [/^#contract\/(.*)$/, 'worker/contract/$1.ts'],
  [/^#words\/(.*)$/, 'web/words/compiled/en/$1.ts'],
  [/^#db\/(.*)$/, 'drizzle/$1.ts'],
  [/^#styled\/(.*)$/, 'web/styled-system/$1/index.js'],
];

function importsOf(from: string): Import[] {
  const named = readFileSync(from, 'utf8').matchAll(
    /^(?:import|export)\b[^;']*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm,
  );
  return [...named].map(([, one, two, three]) => ({
    from,
    to: resolved(from, one ?? two ?? three ?? ''),
  }));
}

/** The file of this repository, or the package. */
function resolved(from: string, name: string): string {
  if (name.startsWith('.')) return join(dirname(from), name).replace(/\?.*$/, '');
  const alias = aliases.find(([pattern]) => pattern.test(name));
  return alias ? name.replace(...alias) : `package ${name}`;
}

const fits = (file: string, part: string) =>
  new RegExp(`^${part.replace('*', '[^/]+')}(/|$)`).test(file);

function partOf(file: string): string | undefined {
  return Object.keys(layers)
    .filter((part) => fits(file, part))
    .toSorted((a, b) => b.length - a.length)[0];
}

/** A sentence for each import that breaks the table. */
function violations(imports: Import[]): string[] {
  return imports.flatMap(({ from, to }) => {
    const part = partOf(from);
    if (!part) return [];
    const allowed = to.startsWith('package ') ? (packages[part] ?? [to]) : layers[part]!;
    if (isAllowed(allowed, to) || isSame(part, from, to)) return [];
    return [
      `${from} imports ${to}: ${part} may import ${allowed.join(', ') || 'nothing'} and itself.`,
    ];
  });
}

const isAllowed = (allowed: string[], to: string) =>
  allowed.some((name) => fits(to, name)) &&
  !allowed.some((name) => name.startsWith('!') && fits(to, name.slice(1)));

/** Whether both files are of one part, such as `web/pages/chat` for `web/pages/*`. */
function isSame(part: string, from: string, to: string): boolean {
  const instanceOf = (file: string) => file.split('/').slice(0, part.split('/').length).join('/');
  return partOf(to) === part && instanceOf(from) === instanceOf(to);
}

const imports = files.flatMap((file) => importsOf(file));

describe('imports', () => {
  it('point in the direction of the table', () => {
    expect(imports.length).toBeGreaterThan(files.length);
    expect(violations(imports)).toEqual([]);
  });

  it('between the folders of the Worker go in one direction', () => {
    const folders = Object.keys(layers).filter((part) => /^worker\/(?!operations)/.test(part));
    const used = (part: string) => folders.filter((other) => layers[part]!.includes(other));
    const reached = (part: string, seen = new Set<string>()): Set<string> => {
      for (const other of used(part).filter((each) => !seen.has(each)))
        reached(other, seen.add(other));
      return seen;
    };
    expect(folders.filter((part) => reached(part).has(part))).toEqual([]);
  });

  it.each([
    [
      'worker/lib/a.ts',
      'worker/billing/b.ts',
      'worker/lib may import worker/contract, drizzle and itself',
    ],
    ['worker/scheduled.ts', 'worker/operations/b.ts', 'worker may import'],
    [
      'worker/contract/a.ts',
      'package hono',
      'worker/contract may import package valibot and itself',
    ],
    ['web/pages/chat/a.tsx', 'web/pages/account/b.tsx', 'web/pages/* may import'],
    [
      'tests/sandbox/stripe/a.ts',
      'worker/contract/b.ts',
      'tests/sandbox/stripe may import nothing and itself',
    ],
  ])('from %s to %s are refused', (from, to, rule) => {
    expect(violations([{ from, to }])).toEqual([
      expect.stringContaining(`${from} imports ${to}: ${rule}`),
    ]);
  });
});

it('file names occur once in worker, web and drizzle', () => {
  const named = files.filter(
    (file) => /^(worker|web|drizzle)\//.test(file) && !mayRepeat.test(file),
  );
  const groups = Map.groupBy(named, (file) => basename(file).replace(/\.tsx?$/, ''));
  expect([...groups.values()].filter((same) => same.length > 1)).toEqual([]);
});

/** A type may have the name of its schema, an endpoint that of its use case. */
it('exported names occur in one file of the Worker', () => {
  const exported = /^export (?:async )?(?:function|const|type|class) (\w+)/gm;
  const named = files
    .filter((file) => /^worker\/(?!endpoints|docs).*\.ts$/.test(file))
    .flatMap((file) => {
      const names = Array.from(readFileSync(file, 'utf8').matchAll(exported), ([, name]) => name!);
      return [...new Set(names)];
    });
  const groups = Map.groupBy(named, (name) => name);
  expect([...groups.values()].filter((same) => same.length > 1)).toEqual([]);
});
