import type { HelpHours, HelpLine } from '#contract/help-line';
import { helpLineWords as words } from '#words/help';
import { locale } from '#words/language';
import { countryNames } from '#words/intl';
import { helpLines } from '#contract/help-lines';

export type HelpWay = { label: string; href?: string; note: string; isWebsite: boolean };

/** Returns texts before calls, since some people cannot speak aloud. */
export function helpWays({ text, chat, whatsApp, call, hours, isFree }: HelpLine): HelpWay[] {
  const ways: HelpWay[] = [];
  if (text) ways.push({ label: textLabel(text), href: smsLink(text), note: '', isWebsite: false });
  if (chat)
    ways.push({
      label: words.chat(chat.address),
      href: `https://${chat.address}`,
      note: hoursText(chat.hours),
      isWebsite: true,
    });
  if (whatsApp)
    ways.push({
      label: words.whatsApp(whatsApp.shown),
      href: `https://wa.me/${whatsApp.international}`,
      note: hoursText(whatsApp.hours),
      isWebsite: true,
    });
  if (call)
    ways.push({
      label: callLabel(call),
      ...(call.tel && { href: `tel:${call.tel}` }),
      note: [hoursText(hours), costText(isFree)].filter(Boolean).join(', '),
      isWebsite: false,
    });
  return ways;
}

type TextLine = NonNullable<HelpLine['text']>;
type CallLine = NonNullable<HelpLine['call']>;

function textLabel({ shown, word }: TextLine): string {
  return word ? words.textWord({ word, number: shown }) : words.text(shown);
}

/** iOS and Android understand `?&body=`; each ignores the other's separator. */
function smsLink({ number, word }: TextLine): string {
  return word ? `sms:${number}?&body=${word}` : `sms:${number}`;
}

function callLabel({ shown, key }: CallLine): string {
  return key ? words.callThen({ number: shown, key }) : words.call(shown);
}

function costText(isFree: boolean | undefined): string {
  if (isFree === undefined) return '';
  return isFree ? words.free : words.charged;
}

function hoursText(hours: HelpHours | undefined): string {
  if (!hours) return '';
  return hours === 'always' ? words.always : words.daily(hours);
}

export type CountryHelp = { country: string; lines: readonly HelpLine[] };

/** Keeps the connection's country first, since short numbers work only there. */
export function helpFor(countries: readonly string[]): CountryHelp[] {
  // Cloudflare says XX for an unknown country and T1 for Tor.
  const known = countries.filter((country) => /^[A-Z]{2}$/.test(country) && country !== 'XX');
  return [...new Set(known)].map((country) => ({ country, lines: [], ...helpLines[country] }));
}

/** Returns the lines in the page's language first. */
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
