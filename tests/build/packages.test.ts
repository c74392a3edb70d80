import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { site } from './site.ts';

const root = join(import.meta.dirname, '../..');
const groups = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;

type Versions = Record<string, string>;
type Package = Partial<Record<(typeof groups)[number], Versions>>;

export type Manifest = Package & { scripts: Versions; allowScripts: Record<string, boolean> };

/** What `package-lock.json` says about one package at one place of `node_modules`. */
export type Locked = Package & {
  version?: string;
  integrity?: string;
  resolved?: string;
  license?: string;
  link?: boolean;
  dev?: boolean;
  devOptional?: boolean;
  hasInstallScript?: boolean;
};

export const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const lock: { packages: Record<string, Locked> } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const { '': project = {}, ...packages } = lock.packages;

/** The project's own entry in the lock file. */
export const lockedProject: Package = project;

/** Every other package, by its place in `node_modules`. */
export const locked: [place: string, found: Locked][] = Object.entries(packages);

/** The packages that `package.json` names, with the versions that it asks for. */
export const named: [name: string, version: string][] = groups.flatMap((group) =>
  Object.entries(manifest[group] ?? {}),
);

/** The name of the package at a place: `node_modules/a/node_modules/@b/c` is `@b/c`. */
export function nameAt(place: string): string {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** The package that a dependency of the package at `place` leads to: the nearest one on the way to the top. */
export function resolve(place: string, name: string): Locked | undefined {
  const found = packages[place === '' ? `node_modules/${name}` : `${place}/node_modules/${name}`];
  if (found || place === '') return found;
  return resolve(place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/'))), name);
}

const places = (wrong: (found: Locked, place: string) => boolean) =>
  locked.filter(([place, found]) => wrong(found, place)).map(([place]) => place);

describe('the lock file', () => {
  it('gives every package a version and a SHA-512 hash', () => {
    expect(locked.length).toBeGreaterThan(100);
    expect(places(({ version, integrity }) => !version || !integrity?.startsWith('sha512-'))).toEqual([]);
  });

  it('names no registry, repository, folder or other address', () => {
    expect(places(({ resolved, link }) => resolved !== undefined || link === true)).toEqual([]);
    const ranges = locked.flatMap(([, found]) =>
      Object.values({ ...found.dependencies, ...found.optionalDependencies }),
    );
    expect(ranges.filter((range) => /[:/]/.test(range))).toEqual([]);
  });

  it('carries the packages of every platform', () => {
    const missing = locked.flatMap(([place, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !resolve(place, name)?.integrity)
        .map((name) => `${place}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it.each(['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win-x64'])('brings Node for %s', (platform) => {
    const names = [`node-${platform}`, `node-bin-${platform}`];
    expect(named.filter(([name]) => names.includes(name))).toHaveLength(1);
  });
});

describe('package.json', () => {
  it.each(named)('pins %s to the version of the lock file', (name, version) => {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(resolve('', name)?.version).toBe(version);
  });

  it('asks for what the lock file was made from', () => {
    for (const group of ['dependencies', 'devDependencies', 'optionalDependencies'] as const)
      expect(lockedProject[group]).toEqual(manifest[group]);
  });

  it('names each package once', () => {
    expect(named.map(([name]) => name)).toHaveLength(new Set(named.map(([name]) => name)).size);
  });
});

describe('install scripts', () => {
  it('are off in every version of npm', () => {
    expect(readFileSync('.npmrc', 'utf8').split('\n')).toContain('ignore-scripts=true');
  });

  it('are refused by name for each package that has one', () => {
    const withScript = places(({ hasInstallScript }) => hasInstallScript === true).map(nameAt);
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

const isShipped = ({ dev, devOptional }: Locked) => !dev && !devOptional;
const refused = (list: readonly string[], packages: typeof locked) =>
  packages.filter(([, { license }]) => !allows(list, license)).map(([place, { license }]) => `${place}: ${license}`);

it('ships packages only under licences that ask for a notice at most', () => {
  const packages = locked.filter(([, found]) => isShipped(found));
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
