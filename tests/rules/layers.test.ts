import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const under = ['worker/contract', 'worker/lib', 'worker/settings.ts', 'drizzle'];
const accounts = [...under, 'worker/env.ts', 'worker/bot', 'worker/accounts'];
const features = [...accounts, 'worker/usage', 'worker/live'];
const shown = ['web/rules', 'web/words', 'web/theme', 'web/styled-system', 'worker/contract'];

/** What the files of a part may import besides the part itself. The longest name that fits a file is its part. */
const layers: Record<string, string[]> = {
  'worker/contract': [],
  'worker/lib': ['worker/contract', 'drizzle'],
  'worker/settings.ts': ['worker/contract', 'worker/lib'],
  'worker/messaging': under,
  'worker/bot': under,
  'worker/accounts': accounts,
  // They use every feature. A feature that used them would form a cycle.
  'worker/accounts/account-deletion.ts': [...features, 'worker/chat', 'worker/billing'],
  'worker/accounts/account-export.ts': [
    ...features,
    'worker/sign-in',
    'worker/trials',
    'worker/chat',
    'worker/billing',
    'worker/push',
  ],
  'worker/accounts/phone-change.ts': [
    ...features,
    'worker/sign-in',
    'worker/chat',
    'worker/billing',
    'worker/messaging',
  ],
  'worker/usage': accounts,
  'worker/push': accounts,
  'worker/live': [...accounts, 'worker/usage'],
  'worker/sign-in': [...features, 'worker/messaging'],
  'worker/trials': features,
  'worker/chat': features,
  'worker/billing': features,
  'worker/http': [...features, 'worker/sign-in'],
  'worker/endpoints': [
    'worker/http',
    'worker/sign-in',
    'worker/trials',
    'worker/chat',
    'worker/billing',
    'worker/push',
    'worker/messaging',
    ...features,
  ],
  'worker/operations': ['worker', 'drizzle'],
  worker: ['worker', '!worker/operations'],
  'web/words': ['web/theme', 'worker/contract'],
  'web/theme': [],
  'web/rules': shown,
  'web/ui': shown,
  'web/data': shown,
  // No page imports another one.
  'web/pages/*': ['web/data', 'web/ui', ...shown],
  'web/app': ['web', 'worker/contract', '!web/routes', '!web/build'],
  'web/build': ['web', 'worker/contract'],
  web: ['web', 'worker/contract', '!web/build'],
  drizzle: [],
  'tests/sandbox': ['drizzle'],
};

/** The packages that a part may import, where there is such a rule. */
const packages: Record<string, string[]> = { 'worker/contract': ['valibot'] };

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

function importsOf(from: string, text = readFileSync(from, 'utf8')): Import[] {
  const named = text.matchAll(/^(?:import|export)\b[^;']*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm);
  return [...named].map(([, one, two, three]) => ({ from, to: resolved(from, one ?? two ?? three ?? '') }));
}

/** The file of this repository, or the package. */
function resolved(from: string, name: string): string {
  if (name.startsWith('.')) return join(dirname(from), name).replace(/\?.*$/, '');
  const alias = aliases.find(([pattern]) => pattern.test(name));
  return alias ? name.replace(...alias) : `package ${name}`;
}

const fits = (file: string, part: string) => new RegExp(`^${part.replace('*', '[^/]+')}(/|$)`).test(file);

function partOf(file: string): string | undefined {
  return Object.keys(layers)
    .filter((part) => fits(file, part))
    .toSorted((a, b) => b.length - a.length)[0];
}

/** A sentence for each import that breaks the table. */
function violations(imports: Import[]): string[] {
  return imports
    .filter((one) => !isAllowed(one))
    .map(({ from, to }) => {
      const part = partOf(from)!;
      const allowed = to.startsWith('package ') ? packages[part] : layers[part];
      return `${from} imports ${to}: ${part} may import ${allowed?.join(', ') || 'nothing'} and itself.`;
    });
}

function isAllowed({ from, to }: Import): boolean {
  const part = partOf(from);
  if (!part) return true;
  if (to.startsWith('package ')) return packages[part]?.includes(to.slice('package '.length)) ?? true;
  const allowed = layers[part]!;
  if (allowed.some((name) => name.startsWith('!') && fits(to, name.slice(1)))) return false;
  return (
    allowed.some((name) => fits(to, name)) || (partOf(to) === part && instanceOf(from, part) === instanceOf(to, part))
  );
}

/** `web/pages/chat` for a file of `web/pages/*`. */
const instanceOf = (file: string, part: string) => file.split('/').slice(0, part.split('/').length).join('/');

/** The first cycle found from each file, as its files in order. */
function cycles(imports: Import[]): string[] {
  const graph = Map.groupBy(imports, ({ from }) => from);
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, path: string[]) => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (path.includes(file) || done.has(file)) return;
    for (const { to } of graph.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return found;
}

function doubles(all: string[]): string[] {
  const named = all.filter((file) => /^(worker|web|drizzle)\//.test(file) && !mayRepeat.test(file));
  const groups = Map.groupBy(named, (file) => basename(file).replace(/\.tsx?$/, ''));
  return [...groups].filter(([, same]) => same.length > 1).map(([name, same]) => `${name}: ${same.join(', ')}`);
}

const imports = files.flatMap((file) => importsOf(file));

describe('imports', () => {
  it('are found in every form, type imports included', () => {
    const text = `import { a } from '../lib/a.ts';\nimport type { B } from '#contract/b';\nimport './c.ts';\nexport * from './d.ts';\nconst e = await import('./e.ts');\nimport {\n  f,\n} from 'hono';\n`;
    const found = importsOf('worker/bot/x.ts', text).map(({ to }) => to);
    expect(found.toSorted()).toEqual([
      'package hono',
      'worker/bot/c.ts',
      'worker/bot/d.ts',
      'worker/bot/e.ts',
      'worker/contract/b.ts',
      'worker/lib/a.ts',
    ]);
    expect(imports.length).toBeGreaterThan(files.length);
  });

  it('point in the direction of the table', () => {
    expect(violations(imports)).toEqual([]);
  });

  it('form no cycle', () => {
    expect(cycles(imports)).toEqual([]);
  });

  it.each([
    ['worker/lib/a.ts', 'worker/billing/b.ts', 'worker/lib may import worker/contract, drizzle and itself'],
    ['worker/usage/a.ts', 'worker/billing/b.ts', 'worker/usage may import'],
    ['worker/billing/a.ts', 'worker/operations/b.ts', 'worker/billing may import'],
    ['worker/scheduled.ts', 'worker/operations/b.ts', 'worker may import'],
    ['worker/index.ts', 'web/data/b.ts', 'worker may import'],
    ['worker/contract/a.ts', 'package hono', 'worker/contract may import valibot and itself'],
    ['worker/contract/a.ts', 'worker/lib/b.ts', 'worker/contract may import nothing and itself'],
    ['web/pages/chat/a.tsx', 'web/pages/account/b.tsx', 'web/pages/* may import'],
    ['web/rules/a.ts', 'web/ui/b.tsx', 'web/rules may import'],
    ['web/app/a.tsx', 'web/routes/b.tsx', 'web/app may import'],
    ['web/router.tsx', 'web/build/b.ts', 'web may import'],
    ['web/data/a.ts', 'worker/lib/b.ts', 'web/data may import'],
    ['web/data/a.ts', 'tests/sandbox/b.ts', 'web/data may import'],
    ['tests/sandbox/stripe/a.ts', 'worker/contract/b.ts', 'tests/sandbox may import drizzle and itself'],
  ])('from %s to %s are refused', (from, to, rule) => {
    expect(violations([{ from, to }])).toEqual([expect.stringContaining(`${from} imports`)]);
    expect(violations([{ from, to }])[0]).toContain(rule);
  });

  it.each([
    ['worker/index.ts', 'worker/app.ts'],
    ['worker/billing/a.ts', 'worker/billing/b.ts'],
    ['worker/operations/deploy/a.ts', 'worker/operations/doctor/b.ts'],
    ['web/pages/chat/a.tsx', 'web/pages/chat/parts/b.tsx'],
    ['web/main.tsx', 'web/app/a.tsx'],
    ['drizzle/migrate.ts', 'drizzle/schema.ts'],
    ['tests/api/a.test.ts', 'worker/lib/b.ts'],
    ['worker/lib/a.ts', 'package hono'],
  ])('from %s to %s are allowed', (from, to) => {
    expect(violations([{ from, to }])).toEqual([]);
  });

  it('in a circle are named in their order', () => {
    const edge = (from: string, to: string) => ({ from, to });
    expect(cycles([edge('a', 'b'), edge('b', 'c'), edge('c', 'b'), edge('d', 'a')])).toEqual(['b → c → b']);
  });
});

describe('file names', () => {
  it('occur once in worker, web and drizzle', () => {
    expect(doubles(files)).toEqual([]);
  });

  it('are compared without their folders', () => {
    expect(
      doubles(['worker/a/sync.ts', 'web/b/sync.tsx', 'web/routes/sync.tsx', 'worker/b/index.ts', 'tests/sync.ts']),
    ).toEqual(['sync: worker/a/sync.ts, web/b/sync.tsx']);
  });
});
