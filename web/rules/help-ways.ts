import type { HelpHours, HelpLine } from '#contract/help-line';
import { helpLineWords as words } from '#words/help';
import { locale } from '#words/language';
import { countryNames } from '#words/intl';
import { helpLines } from '#contract/help-lines';

/** A channel of a crisis line: the text and target of its link, and its details. */
export type HelpWay = { label: string; href?: string; note: string; isWebsite: boolean };

/** The channels of a line. Text comes before calls, because some people cannot speak aloud. */
export function helpWays({ text, chat, whatsApp, call, hours, isFree }: HelpLine): HelpWay[] {
  const cost = isFree === undefined ? '' : isFree ? words.free : words.charged;
  return [
    text && way(textLabel(text), smsLink(text)),
    chat && way(words.chat(chat.address), `https://${chat.address}`, [hoursText(chat.hours)], true),
    whatsApp &&
      way(
        words.whatsApp(whatsApp.shown),
        `https://wa.me/${whatsApp.international}`,
        [hoursText(whatsApp.hours)],
        true,
      ),
    call && way(callLabel(call), call.tel && `tel:${call.tel}`, [hoursText(hours), cost]),
  ].filter((each) => each !== undefined);
}

const textLabel = ({ shown, word }: NonNullable<HelpLine['text']>) =>
  word ? words.textWord({ word, number: shown }) : words.text(shown);

// `?&body=` is understood by iOS and by Android; each ignores the other's separator.
const smsLink = ({ number, word }: NonNullable<HelpLine['text']>) =>
  `sms:${number}${word ? `?&body=${word}` : ''}`;

const callLabel = ({ shown, key }: NonNullable<HelpLine['call']>) =>
  key ? words.callThen({ number: shown, key }) : words.call(shown);

function way(
  label: string,
  href: string | undefined,
  notes: string[] = [],
  isWebsite = false,
): HelpWay {
  return { label, ...(href && { href }), note: notes.filter(Boolean).join(', '), isWebsite };
}

function hoursText(hours: HelpHours | undefined): string {
  if (!hours) return '';
  return hours === 'always' ? words.always : words.daily(hours);
}

export type CountryHelp = { country: string; lines: readonly HelpLine[] };

/** Pass the connection's country first: short numbers work only there. Without lines, a country has an empty list. */
export function helpFor(countries: readonly string[]): CountryHelp[] {
  // Cloudflare's CF-IPCountry is XX for an unknown country and T1 for Tor.
  const known = countries.filter((country) => /^[A-Z]{2}$/.test(country) && country !== 'XX');
  return [...new Set(known)].map((country) => ({ country, lines: [], ...helpLines[country] }));
}

/** The lines of a country in their order, with those that answer in the language of the page first. */
export function inReadingOrder(lines: readonly HelpLine[], tag: string = locale): HelpLine[] {
  const { language } = new Intl.Locale(tag);
  const isOther = ({ languages }: HelpLine) => !languages?.some((code) => code === language);
  return lines.toSorted((one, other) => Number(isOther(one)) - Number(isOther(other)));
}

export const helpCountries: readonly [string, string][] = Object.entries(countryNames);

export function countryName(country: string): string {
  const names: Record<string, string> = countryNames;
  return names[country] ?? new Intl.DisplayNames(locale, { type: 'region' }).of(country) ?? country;
}
