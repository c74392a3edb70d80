import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { printAST } from '@formatjs/icu-messageformat-parser/printer.js';
import type { SiteLanguage } from './intl-module.ts';
import type { Texts } from './texts.ts';

/** For tests: accents, 40 % longer; its tag's Arabic letters make libraries write from right to left. */
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

/** Longer by 40 %, as German is. */
function pseudoText(text: string): string {
  const longer = text.replaceAll(/[aeiou]/g, '$&$&');
  return longer.replaceAll(/[a-zA-Z]/g, (letter) => accented[plain.indexOf(letter)]!);
}
