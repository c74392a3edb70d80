import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { site } from './site.ts';

const root = join(import.meta.dirname, '../..');
type Versions = Record<string, string>;
type Package = { dependencies?: Versions; optionalDependencies?: Versions };
type Manifest = Package & { devDependencies: Versions; allowScripts: Record<string, boolean> };

/** What `package-lock.json` says about one package at one place of `node_modules`. */
type Locked = Package & {
  [field in 'version' | 'integrity' | 'resolved' | 'license']?: string;
} & { [field in 'link' | 'dev' | 'devOptional' | 'hasInstallScript']?: boolean };

const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const lock: { packages: Record<string, Locked> } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const { '': _project, ...packages } = lock.packages;
const locked = Object.entries(packages);
const named = Object.entries({
  ...manifest.dependencies,
  ...manifest.devDependencies,
  ...manifest.optionalDependencies,
});

/** The name of the package at a place: `node_modules/a/node_modules/@b/c` is `@b/c`. */
const nameAt = (place: string) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** The package that a dependency of the package at `place` leads to: the nearest one on the way to the top. */
function resolve(place: string, name: string): Locked | undefined {
  const found = packages[place === '' ? `node_modules/${name}` : `${place}/node_modules/${name}`];
  if (found || place === '') return found;
  return resolve(place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/'))), name);
}

const places = (isWrong: (found: Locked) => unknown) =>
  locked.filter(([, found]) => isWrong(found)).map(([place]) => place);

describe('the lock file', () => {
  it('gives every package a version and a SHA-512 hash', () => {
    expect(locked.length).toBeGreaterThan(100);
    expect(places(({ version, integrity }) => !version || !integrity?.startsWith('sha512-'))).toEqual([]);
  });

  it('names no registry, repository, folder or other address', () => {
    expect(places(({ resolved, link }) => resolved !== undefined || link)).toEqual([]);
    const ranges = (found: Locked) => Object.values({ ...found.dependencies, ...found.optionalDependencies });
    expect(places((found) => ranges(found).some((range) => /[:/]/.test(range)))).toEqual([]);
  });

  it('carries the packages of every platform', () => {
    const optional = locked.flatMap(([place, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).map((name) => [place, name] as const),
    );
    expect(optional.filter(([place, name]) => !resolve(place, name)?.integrity)).toEqual([]);
  });

  it.each(['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win-x64'])('brings Node for %s', (platform) => {
    const names = [`node-${platform}`, `node-bin-${platform}`];
    expect(named.filter(([name]) => names.includes(name))).toHaveLength(1);
  });

  it.each(named)('has the one version of %s that package.json asks for', (name, version) => {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(resolve('', name)?.version).toBe(version);
  });
});

describe('install scripts', () => {
  it('are off in every version of npm', () => {
    expect(readFileSync('.npmrc', 'utf8').split('\n')).toContain('ignore-scripts=true');
  });

  it('are refused by name for each package that has one', () => {
    const withScript = places(({ hasInstallScript }) => hasInstallScript).map(nameAt);
    expect(manifest.allowScripts).toEqual(Object.fromEntries(withScript.map((name) => [name, false])));
  });
});

/** Licences of what runs in the browser or the Worker: they ask for a notice at most. */
const shipped = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'OFL-1.1', 'Unlicense'];

/** Licences of tools. They may ask for the source of changes to the tool itself, which the project does not make. */
const tools = [...shipped, 'BlueOak-1.0.0', 'CC-BY-4.0', 'CC0-1.0', 'LGPL-3.0-or-later', 'MIT-0', 'MPL-2.0'];

/** Whether an SPDX expression is met: every part of an AND, one part of an OR. */
function allows(list: readonly string[], expression = ''): boolean {
  return expression
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((licence) => list.includes(licence)));
}

const refused = (list: readonly string[], packages: typeof locked) =>
  packages.filter(([, { license }]) => !allows(list, license)).map(([place, { license }]) => `${place}: ${license}`);

it('ships packages only under licences that ask for a notice at most', () => {
  const packages = locked.filter(([, { dev, devOptional }]) => !dev && !devOptional);
  expect(packages.map(([place]) => nameAt(place))).toEqual(expect.arrayContaining(['react', 'hono', 'stripe']));
  expect(refused(shipped, packages)).toEqual([]);
});

it('builds and tests with packages only under known licences', () => {
  expect(refused(tools, locked)).toEqual([]);
});

it('serves the licence of every package in the scripts of the site', () => {
  const notice = site.read('third-party-licences.txt');
  const packages = [...notice.matchAll(/^## (\S+) - \S+ \((.+)\)\n+(\S.*)$/gm)];
  expect(packages.map(([, name]) => name)).toEqual(expect.arrayContaining(['react', 'react-dom', 'valibot']));
  for (const [, , licence] of packages) expect(allows(shipped, licence)).toBe(true);
  expect(packages).toHaveLength(notice.match(/^## /gm)?.length ?? 0);
});
