import { helpLines } from '#contract/help-lines';
import type { HelpLanguage } from '#contract/help-line';
import { languages, published } from '#contract/languages';
import { formatMoney } from '#contract/money';
import { currency, planIds, plans } from '#contract/plans';
import { withdrawalDays } from './withdrawal-days.ts';

/** By the build, since browsers and Node have other data. */
export function intlModule(locale: string, countryNames: Record<string, string>): string {
  const values = {
    months: monthsOf(locale),
    prices: pricesOf(locale, 1),
    fourWeekPrices: pricesOf(locale, 4),
    countryNames: countriesOf(locale, countryNames),
    languageNames: languagesOf(locale),
  };
  const constants = Object.entries(values).map(
    ([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`,
  );
  return [
    ...constants,
    functionSource('dateText', ['day', 'month', 'year'], datePattern(locale, { day: 'numeric' })),
    functionSource('monthText', ['month', 'year'], datePattern(locale, {})),
    functionSource('timeText', ['hour', 'minute'], timePattern(locale)),
  ].join('');
}

function functionSource(name: string, numbers: string[], body: string): string {
  const parameters = numbers.map((number) => `${number}: number`).join(', ');
  return `export const ${name} = (${parameters}): string => ${body};\n`;
}

function pricesOf(locale: string, weeks: number): Record<string, string> {
  const entries = planIds.map((id) => [id, priceOf(plans[id].weeklyCents * weeks, locale)]);
  return Object.fromEntries(entries);
}

/** The pseudo-language is not in the table of `languages.ts`. */
export type SiteLanguage = { tag: string; name: string; path: string; direction: 'ltr' | 'rtl' };

export const languageModule = ({ tag, path, direction }: SiteLanguage): string =>
  [
    `export const locale: string = ${JSON.stringify(tag)};\n`,
    `/** Whether the site is offered in several languages. Without a type, so that the build removes what is for several alone. */\n`,
    `export const isTranslated = ${published.length > 1};\n`,
    `/** Whether a contract can be withdrawn. Without a type, so that the build removes all of it where the owner has turned it off. */\n`,
    `export const isWithdrawable = ${withdrawalDays > 0};\n`,
    `/** The home pages of the languages other than English. */\n`,
    `export const homes: readonly (readonly [string, string])[] = ${JSON.stringify(homes)};\n`,
    `/** The start of every address of the language: empty in English. */\n`,
    `export const basePath: string = ${JSON.stringify(path)};\n`,
    `/** Without a type, so that the build removes what is for one direction alone. */\n`,
    `export const isRightToLeft = ${direction === 'rtl'};\n`,
  ].join('');

const homes = languages.flatMap(({ tag, path }) =>
  path && published.includes(tag) ? [[tag, `${path}/`]] : [],
);

function monthsOf(locale: string): string[] {
  const format = new Intl.DateTimeFormat(locale, {
    month: 'long',
    day: 'numeric',
    timeZone: 'UTC',
  });
  const monthOf = (date: Date) =>
    format.formatToParts(date).find(({ type }) => type === 'month')?.value ?? '';
  return Array.from({ length: 12 }, (_, month) => monthOf(new Date(Date.UTC(2025, month, 1))));
}

function datePattern(locale: string, day: { day?: 'numeric' }): string {
  const options = { year: 'numeric', month: 'long', ...day, timeZone: 'UTC' } as const;
  const parts = new Intl.DateTimeFormat(locale, options).formatToParts(Date.UTC(2025, 0, 5));
  return templateOf(parts, { day: 'day', month: 'months[month]', year: 'year' });
}

function timePattern(locale: string): string {
  const format = new Intl.DateTimeFormat(locale, {
    hour: 'numeric',
    minute: '2-digit',
    timeZone: 'UTC',
  });
  const morning = format.formatToParts(Date.UTC(2025, 0, 1, 9, 5));
  const evening = format.formatToParts(Date.UTC(2025, 0, 1, 21, 5));
  const am = valueOf(morning, 'dayPeriod');
  const pm = valueOf(evening, 'dayPeriod');
  const wholeDay = valueOf(morning, 'hour') === '09' ? twoDigits('hour') : 'hour';
  return templateOf(morning, {
    hour: am ? '(hour % 12 || 12)' : wholeDay,
    minute: twoDigits('minute'),
    dayPeriod: `(hour < 12 ? ${JSON.stringify(am)} : ${JSON.stringify(pm)})`,
  });
}

const twoDigits = (name: string) => `String(${name}).padStart(2, '0')`;

const valueOf = (parts: Intl.DateTimeFormatPart[], wanted: string) =>
  parts.find(({ type }) => type === wanted)?.value;

function templateOf(parts: Intl.DateTimeFormatPart[], expressions: Record<string, string>): string {
  const pieces = parts.map(({ type, value }) => {
    const expression = expressions[type];
    // Newer data use a narrow space, which not every font has.
    return expression ? `\${${expression}}` : value.replaceAll('\u202f', ' ');
  });
  return `\`${pieces.join('')}\``;
}

/** Without decimals for a whole amount. */
const priceOf = (cents: number, locale: string): string =>
  formatMoney(cents, currency, locale, { trailingZeroDisplay: 'stripIfInteger' });

function countriesOf(locale: string, special: Record<string, string>): Record<string, string> {
  const names = new Intl.DisplayNames(locale, { type: 'region' });
  const entries = Object.keys(helpLines).map(
    (code) => [code, special[code] ?? names.of(code) ?? code] as const,
  );
  return Object.fromEntries(
    entries.toSorted(([, one], [, other]) => one.localeCompare(other, locale)),
  );
}

function languagesOf(locale: string): Record<HelpLanguage, string> {
  const names = new Intl.DisplayNames(locale, { type: 'language' });
  const lines = Object.values(helpLines).flatMap((country) => country.lines);
  const codes = lines.flatMap(({ languages: always = [], languagesAtTimes = [] }) => [
    ...always,
    ...languagesAtTimes,
  ]);
  const sorted = [...new Set(codes)].toSorted();
  const entries = sorted.map((code) => [code, names.of(code) ?? code] as const);
  return Object.fromEntries(entries) as Record<HelpLanguage, string>;
}
