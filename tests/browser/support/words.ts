import type { Page } from 'playwright/test';
import { brand } from '../../../worker/contract/brand.ts';
import type { Language } from '../../../worker/contract/languages.ts';
import { folderOf, sentencesOf } from '../../../web/build/words/texts.ts';
import { withdrawalLabels } from '../../../web/words/withdrawal-labels.ts';
import { ownTexts } from './page.ts';
import { expect } from './test.ts';

const names: Record<string, string> = {
  name: brand.name,
  companion: brand.companion,
  company: brand.company,
  app: brand.messagingApp,
  withdrawalDays: '14',
};

/** A sentence of a language by its key, with these values and the names of the product. */
export function sentenceOf(
  tag: Language,
  key: string,
  values: Record<string, string> = {},
): string {
  const { withdraw: withdrawLabel } = withdrawalLabels[tag];
  const known: Record<string, string> = {
    ...names,
    withdrawLabel,
    ...values,
  };
  const text = sentencesOf(folderOf(tag)).get(key)!;
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name]!);
}

/** Words of English that neither Spanish nor Portuguese has. */
const englishWords =
  /\b(the|you|your|and|with|this|that|please|of|are|is|will|have|try|again|our|send|loading)\b/i;

/** The page is in its language, and shows no English where that is another one. */
export async function expectNoEnglish(page: Page, tag: Language): Promise<void> {
  await expect(page.locator('html')).toHaveAttribute('lang', tag);
  const texts = await ownTexts(page);
  expect(texts.length, 'texts on the page').toBeGreaterThan(3);
  if (tag === 'en') return;

  const english = texts.filter((text) => englishWords.test(text));
  expect(english, `English on ${page.url()}`).toEqual([]);
}
