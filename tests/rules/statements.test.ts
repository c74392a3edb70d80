import { globSync, readFileSync } from 'node:fs';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { sentencesOf } from '../../web/build/words/texts.ts';
import { noticeMs } from '../../worker/account/account-retention.ts';
import { published } from '../../worker/contract/languages.ts';
import { planIds, plans } from '../../worker/contract/plans.ts';
import { rateLimitEventsKeptMs } from '../../worker/lib/rate-limits.ts';
import { memoize } from '../../worker/lib/memoize.ts';
import { dayMs } from '../../worker/lib/time.ts';
import { objectionMs } from '../../worker/withdrawal/withdrawal-right.ts';
import { SettingRules } from '../../worker/setting-rules.ts';
import { weekMs } from '../../worker/usage/week.ts';
import { texts } from './statements.ts';
import { titlesIn } from './test-titles.ts';

const read = (file: string) => readFileSync(file, 'utf8');

/** The titles of a suite's tests; a proof names no file, since tests move between files. */
const titlesOf = memoize((suite: string) =>
  globSync(`tests/${suite}/**/*.test.ts`).flatMap((file) => [...titlesIn(read(file))]),
);
const [, promises = ''] =
  /## What the texts promise in your name\n([\s\S]*?)\n## /.exec(read('worker/docs/runbook.md')) ??
  [];

const spanOf = (days: number) =>
  ({
    1: 'a day',
    7: 'a week',
    730: 'two years',
    1095: 'three years',
  })[days] ?? `${days} days`;
const daysOf = (setting: 'CHAT_RETENTION_DAYS' | 'ACCOUNT_RETENTION_DAYS') =>
  spanOf(v.parse(SettingRules.entries[setting], undefined));
const planNames = planIds.map((id) => plans[id].name);

/** What the product has for the names that stand in braces after `says`. */
const values: Record<string, string> = {
  CHAT_RETENTION_DAYS: daysOf('CHAT_RETENTION_DAYS'),
  ACCOUNT_RETENTION_DAYS: daysOf('ACCOUNT_RETENTION_DAYS'),
  noticeMs: spanOf(noticeMs / dayMs),
  rateLimitEventsKeptMs: spanOf(rateLimitEventsKeptMs / dayMs),
  weekMs: spanOf(weekMs / dayMs),
  objectionMs: spanOf(objectionMs / dayMs),
  WITHDRAWAL_KEPT_DAYS: spanOf(v.parse(SettingRules.entries.WITHDRAWAL_KEPT_DAYS, undefined)),
  planNames: `${planNames.slice(0, -1).join(', ')} or ${planNames.at(-1)}`,
  voicePlan: plans[planIds.find((id) => plans[id].hasVoice)!].name,
  period: plans.free.periodDescription,
};

/** Whether a proof holds for a sentence; `statements.ts` says what `where` may be. */
function holds(where: string, words: string, sentence: string): boolean {
  if (where === 'none') return true;
  if (where === 'says')
    return sentence.includes(words.replaceAll(/\{(\w+)\}/g, (_, name) => values[name]!));
  if (where === 'runbook') return promises.includes(words);
  if (where.includes('.')) return read(where).includes(words);
  return titlesOf(where).some((title) => title.includes(words));
}

/** The sentences of a text in English, without titles and the date, with their keys. */
const statementsOf = (group: string) =>
  [...sentencesOf('en')]
    .filter(([key]) => key.startsWith(`${group}.`) && !/\.(?:title|lastUpdated)$/.test(key))
    .flatMap(([key, text]) =>
      text.split(/(?<=[.?!]) (?=[A-Z{<])/).map((sentence) => ({
        key,
        sentence,
      })),
    );

const translations = published
  .filter((language) => language !== 'en')
  .map((language) => language.toLowerCase());

it('knows each text that promises something', () => {
  expect(Object.keys(texts)).toHaveLength(8);
});

describe.each(Object.entries(texts))('%s', (group, list) => {
  const statements = statementsOf(group);
  const rows = Object.entries(list)
    .flatMap(([beginnings, proofs]) =>
      beginnings.split(' | ').map((beginning) => ({ beginning, proofs })),
    )
    .map((row, index) => ({
      ...row,
      sentence: statements[index]?.sentence ?? '',
    }));

  it('has each of its sentences in the list, and nothing else', () => {
    const beginnings = rows.map(({ beginning }) => beginning);
    expect(
      statements.map(({ sentence }, index) => sentence.slice(0, beginnings[index]?.length)),
    ).toEqual(beginnings);
  });

  it.each(rows)('says the truth: “$beginning…”', ({ proofs, sentence }) => {
    expect(proofs).not.toEqual([]);
    const missing = proofs.filter((proof) => {
      const [, where = '', words = ''] = /^([\w./-]+): (.+)$/.exec(proof)!;
      return !holds(where, words, sentence);
    });
    expect(missing).toEqual([]);
  });

  it.each(translations)('names the same numbers in %s', (folder) => {
    const [english, translated] = [sentencesOf('en'), sentencesOf(folder)];
    const numbersOf = (words = '') => (words.match(/\d+/g) ?? []).toSorted();
    for (const { key } of statements)
      expect(numbersOf(translated.get(key)), `${folder}: ${key}`).toEqual(
        numbersOf(english.get(key)),
      );
  });
});
