import { describe, expect, it } from 'vitest';
import { countryOfPhone } from '../../web/rules/phone-country.ts';
import { helpFor } from '../../web/rules/help-ways.ts';
import type { HelpHours, HelpLine } from '../../worker/contract/help-line.ts';
import { helpLines } from '../../worker/contract/help-lines.ts';

const entries = Object.entries(helpLines).flatMap(([country, { lines }]) =>
  lines.map((line) => [`${country} ${line.service}`, country, line] as const),
);
/** The violated rules of a line; empty if the line may be shown. */
function faults(country: string, line: HelpLine, now = new Date()): string[] {
  const { call, text, whatsApp, chat } = line;
  const hours = [line.hours, whatsApp?.hours, chat?.hours].filter((each) => each !== undefined);
  const checks: [string, boolean][] = [
    ['no service', line.service.trim() === ''],
    ['no way to reach it', !call && !text && !whatsApp && !chat],
    ['no source', line.sources.length === 0 || line.sources.some((source) => !/\w\.\w|MetaGer/.test(source))],
    ['no date', !/^\d{4}(-\d\d(-\d\d)?)?$/.test(line.readOn) || Number.isNaN(Date.parse(line.readOn))],
    ['a date in the future', Date.parse(line.readOn) > now.getTime()],
    ['not of high confidence', line.confidence !== 'high'],
    ['a call link that is not made of national digits', call?.tel !== undefined && !/^\d{3,11}$/.test(call.tel)],
    ['a call link to another number', call?.tel !== undefined && call.tel !== digits(call.shown)],
    ['a text link to another number', text !== undefined && text.number !== digits(text.shown)],
    ['a WhatsApp number of another country', whatsApp !== undefined && !isFull(country, whatsApp)],
    ['a chat that is no web address', chat !== undefined && !/^[a-z\d-]+(\.[a-z\d-]+)+$/.test(chat.address)],
    ['hours that are none', !hours.every(isHours)],
    ['a language twice', hasTwice([...(line.languages ?? []), ...(line.languagesAtTimes ?? [])])],
    ['no English beside another script', /[^\p{Script=Latin}\P{L}]/u.test(line.service) && !line.inEnglish],
  ];
  return checks.filter(([, isFault]) => isFault).map(([fault]) => fault);
}

/** The digits to dial; what is printed in brackets is pressed later. */
const digits = (shown: string) => shown.replace(/\(.*\)/, '').replaceAll(/\D/g, '');
const isFull = (country: string, { shown, international }: NonNullable<HelpLine['whatsApp']>) =>
  countryOfPhone(`+${international}`) === country && international.endsWith(digits(shown));
const isHours = (hours: HelpHours) =>
  hours === 'always' || (hours.from >= 0 && hours.from < hours.to && hours.to <= 24 && hours.to - hours.from < 24);
const hasTwice = (values: readonly unknown[]) => new Set(values).size < values.length;

describe('each line', () => {
  it.each(entries)('%s keeps every rule', (_, country, line) => {
    expect(faults(country, line)).toEqual([]);
  });
});

describe('the rules refuse', () => {
  const [us] = helpLines['US']!.lines;
  const broken: [string, object][] = [
    ['no service', { service: ' ' }],
    ['no way to reach it', { call: undefined, text: undefined, chat: undefined }],
    ['no source', { sources: [] }],
    ['no source', { sources: ['somewhere'] }],
    ['no date', { readOn: undefined }],
    ['no date', { readOn: 'current page' }],
    ['no date', { readOn: '2026-13-01' }],
    ['a date in the future', { readOn: '2999-01-01' }],
    ['not of high confidence', { confidence: 'medium' }],
    ['a call link that is not made of national digits', { call: { shown: '+1988', tel: '+1988' } }],
    ['a call link to another number', { call: { shown: '988', tel: '1988' } }],
    ['a text link to another number', { text: { shown: '988', number: '1988' } }],
    ['a WhatsApp number of another country', { whatsApp: { shown: '324 011 7252', international: '393240117252' } }],
    ['a WhatsApp number of another country', { whatsApp: { shown: '988', international: '988' } }],
    ['a chat that is no web address', { chat: { address: 'https://988lifeline.org' } }],
    ['hours that are none', { hours: { from: 10, to: 9 } }],
    ['hours that are none', { chat: { address: '988lifeline.org', hours: { from: 0, to: 24 } } }],
    ['a language twice', { languages: ['en', 'en'] }],
    ['no English beside another script', { service: '자살예방 상담전화' }],
  ];

  it.each(broken)('%s: %j', (fault, change) => {
    expect(faults('US', us)).toEqual([]);
    expect(faults('US', { ...us, ...change })).toContain(fault);
  });
});

describe('the list', () => {
  const countries = Object.entries(helpLines);

  it('names each country once, by its ISO code, in the order of the names', () => {
    const names = countries.map(([, { name }]) => name);
    expect(hasTwice(names)).toBe(false);
    expect(names).toEqual(names.toSorted((one, other) => one.localeCompare(other, 'en')));
    for (const [code, { name }] of countries) {
      expect(code).toMatch(/^[A-Z]{2}$/);
      const official = new Intl.DisplayNames('en', { type: 'region' }).of(code);
      expect([code, name]).toEqual([code, regionNames[code] ?? official]);
    }
  });

  it.each(countries)('%s has no number twice', (_, { lines }) => {
    const numbers = lines.flatMap(({ call }) => call?.shown ?? []);
    expect(hasTwice(numbers)).toBe(false);
    expect(hasTwice(lines.map(({ service }) => service))).toBe(false);
  });

  it.each(countries.filter(([, { lines }]) => lines.length > 1))(
    '%s has more than one line only for another language, way or area',
    (_, { lines }) => {
      const kinds = lines.map((line) => [line.languages, line.area, /mobile/.test(line.service)]);
      expect(hasTwice(kinds.map((kind) => JSON.stringify(kind)))).toBe(false);
    },
  );
});

/** Where the site uses another name than the Unicode list. */
const regionNames: Record<string, string> = { CN: 'China (mainland)', HK: 'Hong Kong' };

describe('helpFor', () => {
  it('gives the lines of the connection before those of the phone number', () => {
    expect(helpFor(['DE', 'US']).map(({ country, name }) => [country, name])).toEqual([
      ['DE', 'Germany'],
      ['US', 'United States'],
    ]);
    expect(helpFor(['DE'])[0]?.lines[0]?.call?.tel).toBe('08001110111');
  });

  it('gives a country once', () => {
    expect(helpFor(['DE', 'DE'])).toHaveLength(1);
  });

  it('gives no neighbour’s line to a country without one', () => {
    expect(helpFor(['DK', 'US'])).toEqual([{ country: 'DK', lines: [] }, expect.objectContaining({ country: 'US' })]);
  });

  it.each(['XX', 'T1', '', 'de', 'constructor'])('leaves out %j, which is no country', (country) => {
    expect(helpFor([country])).toEqual([]);
  });
});
