import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { printAST } from '@formatjs/icu-messageformat-parser/printer.js';
import type { SiteLanguage } from './intl-module.ts';
import type { Texts } from './texts.ts';

/**
 * English in disguise, for tests alone: with accents, about 40 % longer, and from right to left. It shows sentences that
 * are not translated, places that are too small, and styles that know only one direction. It is not in the table of
 * `languages.ts`, so that it can never be published. Its tag says English in Arabic letters, from which libraries conclude
 * the direction.
 */
export const pseudoLanguage: SiteLanguage = {
  tag: 'en-Arab',
  name: 'Pseudo',
  path: '/pseudo',
  direction: 'rtl',
};

export function pseudoTexts<T extends Texts | Record<string, Texts>>(texts: T): T {
  if (typeof texts === 'string') return printAST(parse(texts).map(pseudoElement)) as T;
  if (Array.isArray(texts)) return texts.map((text) => pseudoTexts(text)) as T;
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, pseudoTexts(text)]),
  ) as T;
}

function pseudoElement(element: MessageFormatElement): MessageFormatElement {
  if (element.type === TYPE.literal) return { ...element, value: pseudoText(element.value) };
  if (element.type === TYPE.tag)
    return { ...element, children: element.children.map(pseudoElement) };
  if (element.type !== TYPE.plural) return element;
  const options = Object.entries(element.options).map(
    ([form, option]) => [form, { ...option, value: option.value.map(pseudoElement) }] as const,
  );
  return { ...element, options: Object.fromEntries(options) };
}

const plain = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const accented = 'åƀçđéƒĝĥíĵķļɱñöþǫŕšţûṽŵẋýžÅƁÇĐÉƑĜĤÎĴĶĻḾÑÖÞǪŔŠŢÛṼŴẊÝŽ';

/** Vowels are doubled, which makes most texts 40 % longer, as German words are. */
function pseudoText(text: string): string {
  const longer = text.replaceAll(/[aeiou]/g, '$&$&');
  return longer.replaceAll(/[a-zA-Z]/g, (letter) => accented[plain.indexOf(letter)]!);
}
