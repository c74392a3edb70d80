import * as fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { folderOf, sentencesOf } from '../../web/build/words/texts.ts';
import { hasAskedToStart, withNote } from '../../worker/billing/start-choice.ts';
import { published } from '../../worker/contract/languages.ts';
import { formatMoney } from '../../worker/contract/money.ts';
import { withdrawalTextVersion } from '../../worker/contract/withdrawal-schemas.ts';
import { refundOf, withdrawableUntil } from '../../worker/withdrawal/withdrawal-right.ts';

const day = 86_400_000;
const at = (text: string) => Date.parse(text);

it.each([
  ['2026-12-01T00:00:00Z', '2026-12-16T12:00:00Z'],
  ['2026-12-01T11:59:59.999Z', '2026-12-16T12:00:00Z'],
  ['2026-12-01T12:00:00Z', '2026-12-17T12:00:00Z'],
  ['2026-12-31T11:00:00Z', '2027-01-15T12:00:00Z'],
])(
  'a contract of %s can be withdrawn until the end of its last day in UTC-12, %s',
  (from, until) => {
    expect(new Date(withdrawableUntil(at(from), 14))).toEqual(new Date(until));
  },
);

it('the period is never shorter than its days in any time zone', () => {
  const zones = fc.integer({ min: -12, max: 14 });
  const instants = fc.integer({
    min: at('2026-01-01'),
    max: at('2030-01-01'),
  });
  fc.assert(
    fc.property(
      instants,
      zones,
      fc.integer({
        min: 1,
        max: 60,
      }),
      (concluded, zone, days) => {
        const shift = zone * 3_600_000;
        const localDay = Math.floor((concluded + shift) / day);
        const endOfLastDay = (localDay + days + 1) * day - shift;
        expect(withdrawableUntil(concluded, days)).toBeGreaterThanOrEqual(endOfLastDay);
      },
    ),
  );
});

it.each([
  ['after 2.5 of 7 days', 1199, 2.5, 771],
  ['at the beginning', 1199, 0, 1199],
  ['before the beginning', 1199, -1, 1199],
  ['at the end', 1199, 7, 0],
  ['long after the end', 1199, 9, 0],
])('who asked to start at once gets the unused part back %s', (_, paid, days, refund) => {
  const period = {
    paid,
    rest: paid,
    start: 1000,
    end: 1000 + 7 * 86_400,
    currency: 'usd',
  };
  expect(refundOf(period, true, 1000 + days * 86_400)).toBe(refund);
});

it.each([
  ['jpy', 1199, 600],
  ['krw', 15_900, 7950],
  ['kwd', 5130, 2570],
  ['isk', 90_100, 45_100],
])('in %s the time is paid for in amounts that banks can pay', (currency, paid, refund) => {
  const period = {
    paid,
    rest: paid,
    start: 0,
    end: 7 * 86_400,
    currency,
  };
  expect(refundOf(period, true, 3.5 * 86_400)).toBe(refund);
});

it.each([
  [1199, 'usd', ['$11.99', '11,99\u00a0US$', 'US$\u00a011,99']],
  [1199, 'jpy', ['¥1,199', '1199\u00a0JPY', 'JP¥\u00a01.199']],
  [15_900, 'krw', ['₩15,900', '15.900\u00a0KRW', '₩\u00a015.900']],
  [5120, 'kwd', ['KWD\u00a05.120', '5,120\u00a0KWD', 'KWD\u00a05,120']],
  [90_000, 'isk', ['ISK\u00a0900', '900\u00a0ISK', 'ISK\u00a0900']],
  [123_456, 'huf', ['HUF\u00a01,234.56', '1234,56\u00a0HUF', 'HUF\u00a01.234,56']],
  [123_456, 'all', ['ALL\u00a01,234.56', '1234,56\u00a0ALL', 'ALL\u00a01.234,56']],
])('%i of %s is written as Stripe counts it, in each language', (amount, currency, texts) => {
  expect(published.map((tag) => formatMoney(amount, currency, tag))).toEqual(texts);
});

it('who did not ask to start at once gets everything back, and never more than is left', () => {
  const period = {
    paid: 1199,
    rest: 1199,
    start: 0,
    end: 604_800,
    currency: 'usd',
  };
  expect(refundOf(period, false, 600_000)).toBe(1199);
  expect(refundOf({ ...period, rest: 300 }, false, 600_000)).toBe(300);
  expect(refundOf({ ...period, rest: 0 }, true, 0)).toBe(0);
});

it('the last note up to the first week of a contract says whether it was to start at once', () => {
  const tier = 'premium';
  const first = withNote({ metadata: {} }, { tier, startNow: true }, 100);
  const metadata = withNote({ metadata: first }, { tier, startNow: false }, 200);
  const asked = (begins: number) =>
    hasAskedToStart({ metadata }, [{ tier, startNow: true }], { tier, begins });
  expect([99, 100, 199, 200].map(asked)).toEqual([false, true, true, false]);
});

/**
 * Article 14(3): the person pays "an amount which is in proportion to what has been provided". Counted second by second
 * in whole cents, the part that was provided is the most cents whose time has passed completely.
 */
function centsProvided(paid: number, seconds: number, length: number): number {
  let cents = 0;
  while (cents < paid && (cents + 1) * length <= paid * seconds) cents += 1;
  return cents;
}

it('the refund is what the law leaves to pay, to the cent', () => {
  const lengths = fc.integer({ min: 1, max: 604_800 });
  fc.assert(
    fc.property(
      fc.integer({ min: 50, max: 9000 }),
      lengths,
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.integer({ min: 0, max: 9000 }),
      fc.boolean(),
      (paid, length, elapsed, refundedBefore, startNow) => {
        const rest = Math.max(0, paid - refundedBefore);
        const seconds = Math.min(elapsed, length);
        const owed = startNow ? paid - centsProvided(paid, seconds, length) : paid;
        const period = {
          paid,
          rest,
          start: 0,
          end: length,
          currency: 'usd',
        };
        const refund = refundOf(period, startNow, elapsed);
        expect(refund).toBe(Math.min(owed, rest));
      },
    ),
    { numRuns: 500 },
  );
});

/** A choice before a purchase is evidence by the version of the texts beside it. */
it('the texts of the review of an order have the version that is kept with a choice', () => {
  const keys = ['cancelText', 'renewalText', 'startNow', 'startNowText', 'withdrawalText'];
  const texts = published.flatMap((tag) =>
    keys.map((key) => sentencesOf(folderOf(tag)).get(`order.order.${key}`)),
  );
  const hash = createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16);
  // Changed texts need a new version in worker/contract/withdrawal-schemas.ts, and its hash here.
  expect({ [withdrawalTextVersion]: hash }).toEqual({ '2026-11-29': '4ad4b131ee92fc20' });
});

it('the site knows when the owner has turned it off, and refuses days that are none', () => {
  const code =
    "const { languageModule } = await import('./web/build/words/intl-module.ts'); console.log(languageModule({ tag: 'en', path: '', direction: 'ltr', name: '' }))";
  const built = (days: string) =>
    execFileSync(process.execPath, ['--input-type=module', '-e', code], {
      env: { ...process.env, WITHDRAWAL_DAYS: days },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  expect(built('0')).toContain('isWithdrawable = false');
  expect(built('14')).toContain('isWithdrawable = true');
  expect(() => built('two')).toThrow();
});
