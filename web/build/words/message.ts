import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { brand } from '#contract/brand';
import type { Language as Tag } from '#contract/languages';
import { withdrawalLabels } from '../../words/withdrawal-labels.ts';
import { withdrawalDays } from './withdrawal-days.ts';

/** The placeholders that the build fills: the names of the product, and what the owner or the law decides. */
function namesIn(locale: string): Record<string, string> {
  const { withdraw, confirm } = withdrawalLabels[locale as Tag] ?? withdrawalLabels.en;
  return {
    name: brand.name,
    companion: brand.companion,
    app: brand.messagingApp,
    company: brand.company,
    companyAddress: brand.companyAddress,
    supportEmail: brand.supportEmail,
    copyrightYear: String(brand.copyrightYear),
    withdrawLabel: withdraw,
    confirmWithdrawal: confirm,
    withdrawalDays: String(withdrawalDays),
  };
}

const brandNames = namesIn('en');

/** `number` chooses a plural form, `value` is printed, `tag` is an element around a part of the sentence. */
type Kind = 'number' | 'value' | 'tag';

/** A sentence with its placeholders in the order in which they first occur. */
export type Message = { elements: MessageFormatElement[]; placeholders: Map<string, Kind> };

/** The message of an ICU text. Throws for a syntax error, a form that the build does not know, or a missing plural form. */
function readMessage(text: string, locale: string): Message {
  const elements = parse(text, { ignoreTag: false });
  const placeholders = new Map<string, Kind>();
  const visit = (element: MessageFormatElement): void => {
    if (element.type === TYPE.literal || element.type === TYPE.pound) return;
    if (element.type === TYPE.argument) {
      if (!(element.value in brandNames) && !placeholders.has(element.value))
        placeholders.set(element.value, 'value');
      return;
    }
    if (element.type === TYPE.tag) {
      placeholders.set(element.value, 'tag');
      return element.children.forEach(visit);
    }
    if (element.type !== TYPE.plural || element.pluralType !== 'cardinal' || element.offset)
      throw new Error(`“${text}” has a form other than a value, a tag or a plural`);
    placeholders.set(element.value, 'number');
    const missing = pluralForms(locale).filter((form) => !(form in element.options));
    if (missing.length > 0)
      throw new Error(`“${text}” lacks the plural form ${missing.join(', ')} of ${locale}`);
    for (const { value } of Object.values(element.options)) value.forEach(visit);
  };
  elements.forEach(visit);
  return { elements, placeholders };
}

/** The placeholders of a text, as a key by which two translations are compared. */
export function placeholdersOf(text: string, locale: string): string {
  const { placeholders } = readMessage(text, locale);
  const used = Object.keys(brandNames).filter((name) => text.includes(`{${name}}`));
  return [...[...placeholders].map(([name, kind]) => `${kind} ${name}`), ...used]
    .toSorted()
    .join(', ');
}

export function withNames(text: string, locale: string): string {
  const names = namesIn(locale);
  return text.replaceAll(/\{(\w+)\}/g, (whole, name) => names[name] ?? whole);
}

const pluralForms = (locale: string) =>
  new Intl.PluralRules(locale).resolvedOptions().pluralCategories;

type Language = { tag: string; direction: 'ltr' | 'rtl' };

/** The TypeScript of a sentence: a string, or a function of its values. */
export function sourceOf(text: string, language: Language): string {
  const { elements, placeholders } = readMessage(text, language.tag);
  const names = [...placeholders.keys()];
  const hasTags = [...placeholders.values()].includes('tag');
  const body = hasTags ? listSource(elements, language) : textSource(elements, language);
  if (names.length === 0) return body;
  const types = names.map((name) => `${name}: ${typeOf(placeholders.get(name)!)}`);
  const isOneValue = names.length === 1 && !hasTags;
  const parameter = isOneValue ? types[0] : `{ ${names.join(', ')} }: { ${types.join('; ')} }`;
  return hasTags
    ? `<T>(${parameter}): (string | T)[] => ${body}`
    : `(${parameter}): string => ${body}`;
}

function typeOf(kind: Kind): string {
  if (kind === 'tag') return '(text: string) => T';
  return kind === 'number' ? 'number' : 'string | number';
}

/** An expression for the parts of a sentence, of which some are elements. */
function listSource(elements: MessageFormatElement[], language: Language): string {
  const parts = elements.map((element) =>
    element.type === TYPE.tag
      ? `${element.value}(${textSource(element.children, language)})`
      : textSource([element], language),
  );
  return `[${parts.join(', ')}]`;
}

/** An expression for a text; `counted` is the number that `#` stands for. */
function textSource(elements: MessageFormatElement[], language: Language, counted = ''): string {
  const pieces = elements.map((element) => pieceOf(element, language, counted));
  if (pieces.every(({ code }) => code === undefined))
    return JSON.stringify(pieces.map(({ text }) => text).join(''));
  const [only] = pieces;
  if (pieces.length === 1 && only?.isText) return only.code!;
  const template = pieces
    .map(({ text, code }) => (code === undefined ? escaped(text!) : `\${${code}}`))
    .join('');
  return `\`${template}\``;
}

type Piece = { text?: string; code?: string; isText?: boolean };

function pieceOf(element: MessageFormatElement, language: Language, counted: string): Piece {
  if (element.type === TYPE.literal) return { text: element.value };
  if (element.type === TYPE.pound) return valuePiece(counted, language);
  if (element.type === TYPE.argument)
    return element.value in brandNames
      ? { text: namesIn(language.tag)[element.value]! }
      : valuePiece(element.value, language);
  if (element.type === TYPE.plural) return { code: pluralSource(element, language), isText: true };
  throw new Error('A tag contains only text and values');
}

/** In a language from right to left, a phone number or a price keeps its own direction between isolating characters. */
const valuePiece = (code: string, { direction }: Language): Piece =>
  direction === 'rtl' ? { code: `\`\\u2068\${${code}}\\u2069\``, isText: true } : { code };

type Plural = Extract<MessageFormatElement, { type: TYPE.plural }>;

function pluralSource({ value, options }: Plural, language: Language): string {
  const forms = Object.entries(options).map(
    ([form, option]) => [form, textSource(option.value, language, value)] as const,
  );
  const other = options['other'] ? textSource(options['other'].value, language, value) : '""';
  // Forms that only a whole number decides need no rules in the browser.
  if (isOneOrOther(language.tag) && forms.every(([form]) => form === 'one' || form === 'other')) {
    const one = forms.find(([form]) => form === 'one')?.[1] ?? other;
    return `(${value} === 1 ? ${one} : ${other})`;
  }
  const exact = forms.filter(([form]) => form.startsWith('='));
  const named = forms.filter(([form]) => !form.startsWith('='));
  const start = exact.map(([form, code]) => `${value} === ${form.slice(1)} ? ${code} : `).join('');
  const choice = named.map(([form, code]) => `${form}: ${code}`).join(', ');
  return `(${start}({ ${choice} } as Partial<Record<Intl.LDMLPluralRule, string>>)[pluralForm(${value})] ?? ${other})`;
}

/** Whether a language, as English does, has one form for 1 and another for every other whole number. */
function isOneOrOther(locale: string): boolean {
  const rules = new Intl.PluralRules(locale);
  const numbers = [0, 1, 2, 3, 5, 10, 11, 21, 100, 101, 1_000_000];
  return numbers.every((number) => rules.select(number) === (number === 1 ? 'one' : 'other'));
}

const escaped = (text: string) => text.replaceAll(/[\\`]|\$\{/g, String.raw`\$&`);
