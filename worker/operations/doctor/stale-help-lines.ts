import { helpLines } from '../../contract/help-lines.ts';
import { dayMs } from '../../lib/time.ts';

/** The setting with the ISO date on which a named person of the owner's team last read every provider's page. */
export const helpLinesReadOnSetting = 'HELP_LINES_READ_ON';

/** After this many days a provider's page has to be read again. */
export const helpLinesMaximumDays = 120;

export type StaleHelpLine = { country: string; service: string; readOn: string };

/** The lines whose source is older than this many days. A date without a day or month counts from its first day. */
export function staleHelpLines(now: Date, days = helpLinesMaximumDays): StaleHelpLine[] {
  return Object.entries(helpLines).flatMap(([country, { lines }]) =>
    lines
      .filter((line) => isOlder(line.readOn, now, days))
      .map(({ service, readOn }) => ({ country, service, readOn })),
  );
}

/** Checks the setting: it is missing, is not a past date, is too old, or is current. */
export function helpLinesReading(value: string | undefined, now: Date): 'missing' | 'invalid' | 'stale' | 'current' {
  if (!value) return 'missing';
  if (!isDay(value) || Date.parse(value) > now.getTime()) return 'invalid';
  return isOlder(value, now, helpLinesMaximumDays) ? 'stale' : 'current';
}

const isOlder = (date: string, now: Date, days: number) => now.getTime() - Date.parse(date) > days * dayMs;

/** `Date.parse` alone would take 30 February for 2 March. */
function isDay(value: string): boolean {
  const time = Date.parse(value);
  return /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}
