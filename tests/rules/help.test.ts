import { describe, expect, it } from 'vitest';
import { countryOfPhone } from '../../web/rules/phone-country.ts';
import type { HelpHours, HelpLine } from '../../worker/contract/help-line.ts';
import { helpLines } from '../../worker/contract/help-lines.ts';
import {
  countryName,
  helpCountries,
  helpFor,
  helpWays,
  inReadingOrder,
} from '../../web/rules/help-ways.ts';
import { sourceDate } from '../../web/rules/formats.ts';
import { helpLinesReading, staleHelpLines } from '../../worker/operations/doctor/run-checks.ts';

describe('the crisis lines', () => {
  const entries = Object.entries(helpLines).flatMap(([country, { lines }]) =>
    lines.map((line) => [`${country} ${line.service}`, country, line] as const),
  );
  /** The violated rules of a line; empty if the line may be shown. */
  function faults(country: string, line: HelpLine): string[] {
    const { call, text, whatsApp, chat } = line;
    const hours = [line.hours, whatsApp?.hours, chat?.hours].filter((each) => each !== undefined);
    const checks: [string, boolean][] = [
      ['no service', line.service.trim() === ''],
      ['no way to reach it', !call && !text && !whatsApp && !chat],
      [
        'no source',
        line.sources.length === 0 || line.sources.some((source) => !/\w\.\w|MetaGer/.test(source)),
      ],
      [
        'no date',
        !/^\d{4}(-\d\d(-\d\d)?)?$/.test(line.readOn) || Number.isNaN(Date.parse(line.readOn)),
      ],
      ['a date in the future', Date.parse(line.readOn) > Date.now()],
      ['not of high confidence', line.confidence !== 'high'],
      [
        'a call link that is not made of national digits',
        call?.tel !== undefined && !/^\d{3,11}$/.test(call.tel),
      ],
      ['a call link to another number', call?.tel !== undefined && call.tel !== digits(call.shown)],
      ['a key that no phone has', call?.key !== undefined && !/^[\d*#]$/.test(call.key)],
      ['a text link to another number', text !== undefined && text.number !== digits(text.shown)],
      ['a word that a link changes', text?.word !== undefined && !/^[A-Z]+$/.test(text.word)],
      [
        'a WhatsApp number of another country',
        whatsApp !== undefined && !isFull(country, whatsApp),
      ],
      [
        'a chat that is no web address',
        chat !== undefined && !/^[a-z\d-]+(\.[a-z\d-]+)+$/.test(chat.address),
      ],
      ['hours that are none', !hours.every(isHours)],
      ['a language twice', hasTwice([...(line.languages ?? []), ...(line.languagesAtTimes ?? [])])],
      [
        'no translation beside another script',
        /[^\p{Script=Latin}\P{L}]/u.test(line.service) && !line.translated,
      ],
    ];
    return checks.filter(([, isFault]) => isFault).map(([fault]) => fault);
  }

  const digits = (shown: string) => shown.replaceAll(/\D/g, '');
  const isFull = (country: string, { shown, international }: NonNullable<HelpLine['whatsApp']>) =>
    countryOfPhone(`+${international}`) === country && international.endsWith(digits(shown));
  const isHours = (hours: HelpHours) =>
    hours === 'always' ||
    (hours.from >= 0 && hours.from < hours.to && hours.to <= 24 && hours.to - hours.from < 24);
  const hasTwice = (values: readonly unknown[]) => new Set(values).size < values.length;

  it.each(entries)('%s keeps every rule', (_, country, line) => {
    expect(faults(country, line)).toEqual([]);
  });

  describe('the list', () => {
    const countries = Object.entries(helpLines);

    it('names each country once, by its ISO code, in the order of the names', () => {
      const names = helpCountries.map(([, name]) => name);
      expect(hasTwice(names)).toBe(false);
      expect(names).toEqual(names.toSorted((one, other) => one.localeCompare(other, 'en')));
      expect(new Set(helpCountries.map(([code]) => code))).toEqual(new Set(Object.keys(helpLines)));
      for (const [code, name] of helpCountries) {
        expect(code).toMatch(/^[A-Z]{2}$/);
        const official = new Intl.DisplayNames('en', { type: 'region' }).of(code);
        expect([code, name]).toEqual([code, regionNames[code] ?? official]);
      }
    });

    it.each(countries)(
      '%s has no number twice, and more lines only for a language, way or area',
      (_, { lines }) => {
        const numbers = lines.flatMap(({ call }) => (call ? [`${call.shown} ${call.key}`] : []));
        const kinds = lines.map((line) =>
          JSON.stringify([line.languages, line.area, /mobile/.test(line.service)]),
        );
        for (const values of [numbers, lines.map(({ service }) => service), kinds])
          expect(hasTwice(values)).toBe(false);
      },
    );
  });

  /** Where the site uses another name than the Unicode list. */
  const regionNames: Record<string, string> = {
    CN: 'China (mainland)',
    HK: 'Hong Kong',
  };

  it('gives the lines of the connection before those of the phone number, and a country once', () => {
    expect(helpFor(['DE', 'US']).map(({ country }) => countryName(country))).toEqual([
      'Germany',
      'United States',
    ]);
    expect(helpFor(['DE'])[0]?.lines[0]?.call?.tel).toBe('08001110111');
    expect(helpFor(['DE', 'DE'])).toHaveLength(1);
  });

  it('gives no neighbour’s line to a country without one', () => {
    expect(helpFor(['DK', 'US'])).toEqual([
      { country: 'DK', lines: [] },
      expect.objectContaining({ country: 'US' }),
    ]);
  });

  it.each(['XX', 'T1', '', 'de', 'constructor'])(
    'leaves out %j, which is no country',
    (country) => {
      expect(helpFor([country])).toEqual([]);
    },
  );
});

describe('a crisis line on the page', () => {
  const all = Object.values(helpLines).flatMap(({ lines }) => lines);
  const line = (country: string) => helpLines[country]!.lines[0];

  const labels = (each: HelpLine) => helpWays(each).map(({ label }) => label);

  it('puts writing before calling, and names the word to text and the key to press', () => {
    expect(labels(line('US'))).toEqual(['Text 988', 'Chat: 988lifeline.org', 'Call 988']);
    expect(labels(line('IT'))).toEqual(['WhatsApp 324 011 7252', 'Call 02 2327 2327']);
    const spanish = helpLines['US']!.lines[1]!;
    expect(labels(spanish)).toEqual(['Text AYUDA to 988', 'Call 988, then press 2']);
    expect(helpWays(spanish).map(({ href }) => href)).toEqual(['sms:988?&body=AYUDA', 'tel:988']);
  });

  it('shows the number as printed and dials national digits', () => {
    expect(helpWays(line('GB'))).toEqual([
      {
        label: 'Call 116 123',
        href: 'tel:116123',
        note: 'around the clock, free',
        isWebsite: false,
      },
    ]);
  });

  it.each(all)('links $service by a phone, text or web address only', (each) => {
    for (const { href } of helpWays(each))
      expect(href ?? '').toMatch(/^(tel:\d+|sms:\d+(\?&body=[A-Z]+)?|https:\/\/[\w./-]+)?$/);
  });

  it('says nothing where the sources say nothing', () => {
    const { hours: _, isFree: __, ...silent }: HelpLine = line('GB');
    expect(helpWays(silent)[0]?.note).toBe('');
    expect(helpWays(line('US'))[1]?.note).toBe('');
  });

  it('says the hours of each way, and that a call costs money', () => {
    expect(helpWays(line('AT'))[0]?.note).toBe('every day 16:00 to 23:00, local time');
    expect(helpWays(line('FI'))[0]?.note).toBe('around the clock, the call costs money');
  });

  it('shows a number that phones refuse to dial from a link as text', () => {
    expect(helpWays(line('CL'))[0]).not.toHaveProperty('href');
  });

  it.each([
    ['en', ['en', 'es']],
    ['es', ['es', 'en']],
    ['pt-BR', ['en', 'es']],
  ])('in %s, a line that answers in this language is the first of its country', (tag, order) => {
    expect(
      inReadingOrder(helpLines['US']!.lines, tag).map(({ languages }) => languages?.[0]),
    ).toEqual(order);
  });

  it.each([
    ['2026-09-03', 'September 2026'],
    ['2024-05', 'May 2024'],
    ['2022-01-01', 'January 2022'],
    ['2022', '2022'],
  ])('a source of %s is shown as %s', (readOn, shown) => {
    expect(sourceDate(readOn)).toBe(shown);
  });
});

describe('old crisis lines', () => {
  const daysAfter = (date: string, days: number) => Date.parse(date) + days * 86_400_000;
  const namesAt = (now: number | string, days?: number) =>
    staleHelpLines(new Date(now), days).map(({ country }) => country);

  it('are named once their source is older than 120 days', () => {
    const { readOn } = helpLines['FR']!.lines[0];
    expect(namesAt(daysAfter(readOn, 120))).not.toContain('FR');
    expect(namesAt(daysAfter(readOn, 120) + 1)).toContain('FR');
  });

  it('counts a year from its first day', () => {
    expect(helpLines['HU']!.lines[0].readOn).toBe('2022');
    expect(namesAt('2022-01-31', 30)).not.toContain('HU');
    expect(namesAt('2022-02-01', 30)).toContain('HU');
  });

  it('says which line and of when', () => {
    const samaritans = {
      country: 'GB',
      service: 'Samaritans',
      readOn: '2026-09-03',
    };
    expect(staleHelpLines(new Date('2030-01-01'))).toContainEqual(samaritans);
  });

  it.each([
    [undefined, 'missing'],
    ['', 'missing'],
    ['yes', 'invalid'],
    ['2026-11', 'invalid'],
    ['2026-02-30', 'invalid'],
    ['2026-11-22', 'invalid'],
    ['2026-07-01', 'stale'],
    ['2026-11-21', 'current'],
    ['2026-08-01', 'current'],
  ])('read on %j are %s', (value, state) => {
    expect(helpLinesReading(value, new Date('2026-11-21T12:00:00Z'))).toBe(state);
  });
});
