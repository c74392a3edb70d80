import { describe, expect, it } from 'vitest';
import type { HelpLine } from '../../worker/contract/help-line.ts';
import { helpLines } from '../../worker/contract/help-lines.ts';
import { helpWays } from '../../web/rules/help-ways.ts';
import { sourceDate } from '../../web/rules/formats.ts';

const all = Object.values(helpLines).flatMap(({ lines }) => lines);
const line = (country: string) => helpLines[country]!.lines[0];

describe('the ways to reach a line', () => {
  it('puts writing before calling', () => {
    expect(helpWays(line('US')).map(({ label }) => label)).toEqual(['Text 988', 'Chat: 988lifeline.org', 'Call 988']);
    expect(helpWays(line('IT')).map(({ label }) => label)).toEqual(['WhatsApp 324 011 7252', 'Call 02 2327 2327']);
  });

  it('shows the number as printed and dials national digits', () => {
    expect(helpWays(line('GB'))).toEqual([
      { label: 'Call 116 123', href: 'tel:116123', note: 'around the clock, free', isWebsite: false },
    ]);
  });

  it.each(all)('links $service by a phone, text or web address only', (each) => {
    for (const { href } of helpWays(each)) expect(href ?? '').toMatch(/^(tel:\d+|sms:\d+|https:\/\/[\w./-]+)?$/);
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
});

it.each([
  ['2026-09-03', 'September 2026'],
  ['2024-05', 'May 2024'],
  ['2022-01-01', 'January 2022'],
  ['2022', '2022'],
])('a source of %s is shown as %s', (readOn, shown) => {
  expect(sourceDate(readOn)).toBe(shown);
});
