import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
type Versions = Record<string, string>;
type Package = Partial<
  Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Versions>
>;
type Manifest = Package & { allowScripts: Record<string, boolean> };

/** What `package-lock.json` says about one package at one place of `node_modules`. */
type Locked = Package & {
  [field in 'version' | 'integrity' | 'resolved' | 'license']?: string;
} & { [field in 'link' | 'dev' | 'devOptional' | 'hasInstallScript']?: boolean };

const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const lock: { packages: Record<string, Locked> } = JSON.parse(
  readFileSync(join(root, 'package-lock.json'), 'utf8'),
);
const { '': _project, ...packages } = lock.packages;
const locked = Object.entries(packages);

/** The name of the package at a place: `node_modules/a/node_modules/@b/c` is `@b/c`. */
const nameAt = (place: string) =>
  place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);

const places = (isWrong: (found: Locked) => unknown) =>
  locked.filter(([, found]) => isWrong(found)).map(([place]) => place);

describe('the lock file', () => {
  it('gives every package a version and a SHA-512 hash', () => {
    expect(locked.length).toBeGreaterThan(100);
    expect(
      places(({ version, integrity }) => !version || !integrity?.startsWith('sha512-')),
    ).toEqual([]);
  });

  it('names no registry, repository, folder or other address', () => {
    expect(places(({ resolved, link }) => resolved !== undefined || link)).toEqual([]);
    const ranges = (found: Locked) =>
      Object.values({
        ...found.dependencies,
        ...found.optionalDependencies,
      });
    expect(places((found) => ranges(found).some((range) => /[:/]/.test(range)))).toEqual([]);
  });

  it('carries the packages of every platform', () => {
    const carried = new Set(locked.map(([place]) => nameAt(place)));
    const optional = locked.flatMap(([, found]) => Object.keys(found.optionalDependencies ?? {}));
    expect(optional.filter((name) => !carried.has(name))).toEqual([]);
  });
});

describe('package.json', () => {
  const named = {
    ...manifest.dependencies,
    ...manifest.devDependencies,
    ...manifest.optionalDependencies,
  };

  it.each(['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win-x64'])(
    'brings Node for %s',
    (platform) => {
      const names = [`node-${platform}`, `node-bin-${platform}`];
      expect(names.filter((name) => name in named)).toHaveLength(1);
    },
  );

  // `npm ci` refuses a lock file that has another one.
  it('asks for one version of each package', () => {
    expect(Object.entries(named).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual(
      [],
    );
  });
});

describe('install scripts', () => {
  it('are off in every version of npm', () => {
    expect(readFileSync('.npmrc', 'utf8').split('\n')).toContain('ignore-scripts=true');
  });

  it('are refused by name for each package that has one', () => {
    const withScript = places(({ hasInstallScript }) => hasInstallScript).map(nameAt);
    expect(manifest.allowScripts).toEqual(
      Object.fromEntries(withScript.map((name) => [name, false])),
    );
  });
});

/** Licences of what runs in the browser or the Worker: they ask for a notice at most. */
const shipped = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'OFL-1.1',
  'Unlicense',
];

/** Licences of tools. They may ask for the source of changes to the tool itself, which the project does not make. */
const tools = [
  ...shipped,
  'BlueOak-1.0.0',
  'CC-BY-4.0',
  'CC0-1.0',
  'LGPL-3.0-or-later',
  'MIT-0',
  'MPL-2.0',
  'Zlib',
];

/** Whether an SPDX expression is met: every part of an AND, one part of an OR. */
function allows(list: readonly string[], expression = ''): boolean {
  const choices = expression.replaceAll(/[()]/g, '').split(' OR ');
  return choices.some((choice) => choice.split(' AND ').every((licence) => list.includes(licence)));
}

it('uses packages only under known licences, and ships those only that ask for a notice at most', () => {
  const isShipped = ({ dev, devOptional }: Locked) => !dev && !devOptional;
  expect(places(isShipped).map(nameAt)).toEqual(
    expect.arrayContaining(['react', 'hono', 'stripe']),
  );
  expect(places((found) => isShipped(found) && !allows(shipped, found.license))).toEqual([]);
  expect(places(({ license }) => !allows(tools, license))).toEqual([]);
});

it('serves the licence of every package in the scripts of the site', () => {
  const notice = readFileSync(join(root, 'dist/web/third-party-licences.txt'), 'utf8');
  const packages = [...notice.matchAll(/^## (\S+) - \S+ \((.+)\)\n+(\S.*)$/gm)];
  expect(packages.map(([, name]) => name)).toEqual(
    expect.arrayContaining(['react', 'react-dom', 'valibot']),
  );
  for (const [, , licence] of packages) expect(allows(shipped, licence)).toBe(true);
  expect(packages).toHaveLength(notice.match(/^## /gm)?.length ?? 0);
});
