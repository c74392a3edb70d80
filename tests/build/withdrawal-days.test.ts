import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderOf, sentencesOf } from '../../web/build/words/texts.ts';
import { withdrawalLabels } from '../../web/words/withdrawal-labels.ts';
import { brand } from '../../worker/contract/brand.ts';
import { languages, type Language } from '../../worker/contract/languages.ts';
import { cloneTree } from '../dev/live-clone.ts';

type Built = { file: string; text: string };

/** Everything that the site serves, of a build with this setting, with its texts as they are written. */
function builtWith(clone: ReturnType<typeof cloneTree>, days: string): Built[] {
  execFileSync('npm', ['run', '--silent', 'build'], {
    cwd: clone.folder,
    env: { ...process.env, WITHDRAWAL_DAYS: days },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const site = join(clone.folder, 'dist/web');
  const files = readdirSync(site, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.(html|js|xml|txt|json|webmanifest)$/.test(file))
    .map((file) => ({
      file,
      text: asWritten(readFileSync(join(site, file), 'utf8')),
    }));
}

const asWritten = (text: string): string =>
  text
    .replaceAll('&#x27;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    // Between a text and a value in it.
    .replaceAll('<!-- -->', '')
    .replaceAll(/\\u([0-9a-f]{4})/g, (_, code: string) => String.fromCodePoint(parseInt(code, 16)));

/** The sentences that speak of withdrawal from a contract, by their keys. */
const ofWithdrawal =
  /^(withdraw\.|withdrawal-texts\.|plans\.plans\.withdrawal$|order\.order\.(withdrawal|startNow)|leaving\.leaving\.withdraw|page-heads\.head\.withdraw\.)/;

/** The part of a sentence without placeholders and tags that is long enough to be its own. */
function fixedPart(text: string, days: string): string {
  const known = text
    .replaceAll('{withdrawalDays}', days)
    .replaceAll('{name}', brand.name)
    .replaceAll('{company}', brand.company);
  const parts = known.split(/\{[^}]*\}|<[^>]*>/);
  return parts.toSorted((one, other) => other.length - one.length)[0]!.trim();
}

/** What is said of withdrawal alone. */
function sentences(tag: Language, days: string): string[] {
  const all = [...sentencesOf(folderOf(tag))];
  const others = all.filter(([key]) => !ofWithdrawal.test(key)).map(([, text]) => text);
  const own = all.filter(([key]) => ofWithdrawal.test(key));
  return own
    .map(([, text]) => fixedPart(text, days))
    .filter((part) => part.length >= 25 && !others.some((text) => text.includes(part)));
}

describe('the setting WITHDRAWAL_DAYS', { tags: 'full' }, () => {
  let clone: ReturnType<typeof cloneTree>;
  beforeAll(() => {
    clone = cloneTree();
  });
  afterAll(() => clone.remove());

  it('0 leaves no page, no link and no word of it', () => {
    const site = builtWith(clone, '0');
    expect(site.length).toBeGreaterThan(50);
    expect(site.filter(({ file }) => file.endsWith('withdraw.html'))).toEqual([]);
    for (const { tag } of languages) {
      const words = [
        ...Object.values(withdrawalLabels[tag]),
        ...sentences(tag, '14'),
        ...sentences(tag, '0'),
      ];
      const found = site.flatMap(({ file, text }) =>
        words.filter((word) => text.includes(word)).map((word) => `${file}: ${word}`),
      );
      expect(found, tag).toEqual([]);
    }
  });

  it('another number stands wherever the days are named', () => {
    const site = builtWith(clone, '30');
    for (const { tag } of languages) {
      const all = [...sentencesOf(folderOf(tag))].filter(([, text]) =>
        text.includes('{withdrawalDays}'),
      );
      expect(all.length).toBeGreaterThan(5);
      for (const [key, text] of all) {
        const [before = '', after = ''] = text.split('{withdrawalDays}');
        const [start = ''] = /[^}>]*$/.exec(before)!;
        const [end = ''] = /^[^{<]*/.exec(after)!;
        const around = (days: string) => start.slice(-12) + days + end.slice(0, 6);
        const has = (days: string) => site.some((each) => each.text.includes(around(days)));
        expect([has('30'), has('14')], `${tag} ${key}`).toEqual([true, false]);
      }
    }
  });
});
