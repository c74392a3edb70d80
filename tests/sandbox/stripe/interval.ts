export const day = 86_400;

/** The instant `count` intervals later, in unix seconds; in a shorter month it is the last day. */
export function addInterval(at: number, interval: string, count: number): number {
  if (interval === 'day') return at + count * day;
  if (interval === 'week') return at + count * 7 * day;
  const months = interval === 'year' ? 12 * count : count;
  const date = new Date(at * 1000);
  const dayOfMonth = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(dayOfMonth, lastDay));
  return date.getTime() / 1000;
}

/** 21 Nov 2026, as Stripe writes it on invoice lines. */
export function shortDate(at: number): string {
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }).format(
    at * 1000,
  );
}

/** November 21, 2026, for the hosted pages. */
export function longDate(at: number): string {
  return new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' }).format(at * 1000);
}
