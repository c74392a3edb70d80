import { describe, expect, it } from 'vitest';
import { helpLines } from '../../worker/contract/help-lines.ts';
import { helpLinesReading, staleHelpLines } from '../../worker/operations/doctor/run-checks.ts';

const dayMs = 86_400_000;
const daysAfter = (date: string, days: number) => new Date(Date.parse(date) + days * dayMs);
const namesAt = (now: Date, days?: number) => staleHelpLines(now, days).map(({ country }) => country);

describe('staleHelpLines', () => {
  it('names a line once its source is older than 120 days', () => {
    const { readOn } = helpLines['FR']!.lines[0];
    expect(namesAt(daysAfter(readOn, 120))).not.toContain('FR');
    expect(namesAt(new Date(daysAfter(readOn, 120).getTime() + 1))).toContain('FR');
  });

  it('counts a year from its first day', () => {
    expect(helpLines['HU']!.lines[0].readOn).toBe('2022');
    expect(namesAt(new Date('2022-01-31'), 30)).not.toContain('HU');
    expect(namesAt(new Date('2022-02-01'), 30)).toContain('HU');
  });

  it('says which line and of when', () => {
    expect(staleHelpLines(new Date('2030-01-01'))).toContainEqual({
      country: 'GB',
      service: 'Samaritans',
      readOn: '2026-09-03',
    });
  });
});

describe('helpLinesReading', () => {
  const now = new Date('2026-11-21T12:00:00Z');

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
  ])('%j is %s', (value, state) => {
    expect(helpLinesReading(value, now)).toBe(state);
  });
});
