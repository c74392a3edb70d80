import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { locked, lockedProject, manifest, nameAt, named, resolve, type Locked } from './lock.ts';

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
