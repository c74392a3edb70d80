import { expect, it } from 'vitest';
import { locked, nameAt, type Locked } from './lock.ts';
import { site } from './site.ts';

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
