import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { brand } from '#contract/brand';
import type { Language as Tag } from '#contract/languages';
import { withdrawalLabels } from '../../words/withdrawal-labels.ts';
import { withdrawalDays } from './withdrawal-days.ts';

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

/** `number` chooses a plural form, `tag` is an element. */
type Kind = 'number' | 'value' | 'tag';

export type Message = { elements: MessageFormatElement[]; placeholders: Map<string, Kind> };

/** Throws for a syntax error, or a missing or unknown form. */
function readMessage(text: string, locale: string): Message {
  const elements = parse(text, { ignoreTag: false });
  const placeholders = new Map<string, Kind>();

  const visit = (element: MessageFormatElement): void => {
    switch (element.type) {
      case TYPE.literal:
      case TYPE.pound:
        return;

      case TYPE.argument:
        if (element.value in brandNames || placeholders.has(element.value)) return;
        placeholders.set(element.value, 'value');
        return;

      case TYPE.tag:
        placeholders.set(element.value, 'tag');
        return element.children.forEach(visit);

      case TYPE.plural:
        checkPlural(element, text, locale);
        placeholders.set(element.value, 'number');
        return Object.values(element.options).forEach(({ value }) => value.forEach(visit));

      default:
        throw unknownForm(text);
    }
  };

  elements.forEach(visit);
  return { elements, placeholders };
}

const unknownForm = (text: string) =>
  new Error(`“${text}” has a form other than a value, a tag or a plural`);

function checkPlural(plural: Plural, text: string, locale: string): void {
  if (plural.pluralType !== 'cardinal' || plural.offset) throw unknownForm(text);
  const missing = pluralForms(locale).filter((form) => !(form in plural.options));
  if (missing.length === 0) return;
  throw new Error(`“${text}” lacks the plural form ${missing.join(', ')} of ${locale}`);
}

/** A key by which two translations are compared. */
export function placeholdersOf(text: string, locale: string): string {
  const { placeholders } = readMessage(text, locale);
  const given = [...placeholders].map(([name, kind]) => `${kind} ${name}`);
  const names = Object.keys(brandNames).filter((name) => text.includes(`{${name}}`));
  return [...given, ...names].toSorted().join(', ');
}

export function withNames(text: string, locale: string): string {
  const names = namesIn(locale);
  return text.replaceAll(/\{(\w+)\}/g, (whole, name) => names[name] ?? whole);
}

const pluralForms = (locale: string) =>
  new Intl.PluralRules(locale).resolvedOptions().pluralCategories;

type Language = { tag: string; direction: 'ltr' | 'rtl' };

export function sourceOf(text: string, language: Language): string {
  const { elements, placeholders } = readMessage(text, language.tag);
  if (placeholders.size === 0) return textSource(elements, language);

  const names = [...placeholders.keys()];
  const types = [...placeholders].map(([name, kind]) => `${name}: ${typeOf(kind)}`);
  const fields = `{ ${names.join(', ')} }: { ${types.join('; ')} }`;
  if ([...placeholders.values()].includes('tag'))
    return `<T>(${fields}): (string | T)[] => ${listSource(elements, language)}`;

  const parameter = names.length === 1 ? types[0] : fields;
  return `(${parameter}): string => ${textSource(elements, language)}`;
}

function typeOf(kind: Kind): string {
  if (kind === 'tag') return '(text: string) => T';
  return kind === 'number' ? 'number' : 'string | number';
}

function listSource(elements: MessageFormatElement[], language: Language): string {
  const parts = elements.map((element) =>
    element.type === TYPE.tag
      ? `${element.value}(${textSource(element.children, language)})`
      : textSource([element], language),
  );
  return `[${parts.join(', ')}]`;
}

/** `counted` is the number of `#`. */
function textSource(elements: MessageFormatElement[], language: Language, counted = ''): string {
  const pieces = elements.map((element) => pieceOf(element, language, counted));
  if (pieces.every((piece) => 'text' in piece))
    return JSON.stringify(pieces.map(({ text }) => text).join(''));

  const [only] = pieces;
  if (pieces.length === 1 && only && 'code' in only && only.isText) return only.code;
  const template = pieces.map((piece) =>
    'text' in piece ? escaped(piece.text) : `\${${piece.code}}`,
  );
  return `\`${template.join('')}\``;
}

/** `isText`: it is a string already. */
type Piece = { text: string } | { code: string; isText: boolean };

function pieceOf(element: MessageFormatElement, language: Language, counted: string): Piece {
  switch (element.type) {
    case TYPE.literal:
      return { text: element.value };
    case TYPE.pound:
      return valuePiece(counted, language);
    case TYPE.argument: {
      const text = namesIn(language.tag)[element.value];
      return text === undefined ? valuePiece(element.value, language) : { text };
    }
    case TYPE.plural:
      return { code: pluralSource(element, language), isText: true };
    default:
      throw new Error('A tag contains only text and values');
  }
}

/** From right to left, isolating characters keep a number's direction. */
const valuePiece = (code: string, { direction }: Language): Piece =>
  direction === 'rtl'
    ? { code: `\`\\u2068\${${code}}\\u2069\``, isText: true }
    : { code, isText: false };

type Plural = Extract<MessageFormatElement, { type: TYPE.plural }>;

function pluralSource({ value, options }: Plural, language: Language): string {
  const forms = Object.entries(options).map(([form, option]): Form => {
    return [form, textSource(option.value, language, value)];
  });
  const other = codeOf(forms, 'other') ?? '""';

  // Whole numbers need no rules in the browser.
  const isSimple = forms.every(([form]) => form === 'one' || form === 'other');
  if (isSimple && isOneOrOther(language.tag))
    return `(${value} === 1 ? ${codeOf(forms, 'one') ?? other} : ${other})`;

  const exact = forms.filter(([form]) => form.startsWith('='));
  const start = exact.map(([form, code]) => `${value} === ${form.slice(1)} ? ${code} : `);
  const named = forms.filter((form) => !exact.includes(form));
  const choice = named.map(([form, code]) => `${form}: ${code}`).join(', ');
  const table = `({ ${choice} } as Partial<Record<Intl.LDMLPluralRule, string>>)`;
  return `(${start.join('')}${table}[pluralForm(${value})] ?? ${other})`;
}

type Form = [form: string, code: string];

const codeOf = (forms: Form[], wanted: string) => forms.find(([form]) => form === wanted)?.[1];

/** As in English: a form for 1, another for the rest. */
function isOneOrOther(locale: string): boolean {
  const rules = new Intl.PluralRules(locale);
  const numbers = [0, 1, 2, 3, 5, 10, 11, 21, 100, 101, 1_000_000];
  return numbers.every((number) => rules.select(number) === (number === 1 ? 'one' : 'other'));
}

const escaped = (text: string) => text.replaceAll(/[\\`]|\$\{/g, String.raw`\$&`);
