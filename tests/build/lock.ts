import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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
