import { sql } from 'drizzle-orm';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  parseLimits,
  rateLimitEventsKeptMs,
  type Limit,
  allowedAt,
  recordEvents,
  wasRecorded,
} from '../../../worker/lib/rate-limits.ts';
import { openRows } from './rows.ts';

const dayMs = 86_400_000;
const start = Date.UTC(2026, 10, 2);
const schema = `create table rate_limit_events (subject text, at integer, by text, primary key (subject, at, by))`;

const limit = fc.record({
  most: fc.integer({ min: 1, max: 5 }),
  per: fc.constantFrom(1_000, 30_000, 3_600_000, dayMs),
});
const limits = fc.array(limit, { minLength: 1, maxLength: 3 });
/** Pauses at the edges of the limits: the same instant, and a millisecond around each window. */
const pause = fc.oneof(
  fc.constantFrom(0, 0, 1, 999, 1_000, 1_001, 29_999, 30_000, 30_001, 3_599_999, 3_600_000, dayMs - 1, dayMs),
  fc.nat(2 * dayMs),
);
const pauses = fc.array(pause, { minLength: 1, maxLength: 40 });

type Act = { at: number; accepted: boolean; allowedAt: number };

/** Acts after each pause if the limits allow it. */
function act(
  rules: Limit[],
  waits: number[],
  onAct: (rows: ReturnType<typeof openRows>, now: number) => void = () => {},
) {
  const rows = openRows(schema);
  const acts: Act[] = [];
  let now = start;
  for (const [index, wait] of waits.entries()) {
    now += wait;
    onAct(rows, now);
    const may = allowedAt([{ subject: 'somebody', limits: rules }]);
    const until = rows.row<{ at: number }>(sql`select ${may} as at`)!.at;
    rows.run(recordEvents(String(index), now, [[['somebody'], sql`${may} <= ${now}`]]));
    const { done } = rows.row<{ done: number }>(sql`select ${wasRecorded('somebody', String(index), now)} as done`)!;
    acts.push({ at: now, accepted: done === 1, allowedAt: until });
  }
  return acts;
}

const within = (acts: Act[], { per }: Limit, until: number) =>
  acts.filter(({ at, accepted }) => accepted && at > until - per && at <= until).length;

it('allows no window more acts than the limit', () => {
  fc.assert(
    fc.property(limits, pauses, (rules, waits) => {
      const acts = act(rules, waits);
      for (const rule of rules)
        for (const { at } of acts) expect(within(acts, rule, at)).toBeLessThanOrEqual(rule.most);
    }),
  );
});

it('refuses only acts beyond a limit: refused acts do not count', () => {
  fc.assert(
    fc.property(limits, pauses, (rules, waits) => {
      const acts = act(rules, waits);
      for (const [index, { at, accepted }] of acts.entries()) {
        const before = acts.slice(0, index);
        const full = rules.some((rule) => within(before, rule, at) >= rule.most);
        expect(accepted).toBe(!full);
      }
    }),
  );
});

it('returns the exact instant from which an act succeeds again', () => {
  fc.assert(
    fc.property(limits, pauses, (rules, waits) => {
      const first = act(rules, waits).findIndex(({ accepted }) => !accepted);
      fc.pre(first >= 0);
      const upTo = waits.slice(0, first + 1);
      const { at, allowedAt: until } = act(rules, upTo).at(-1)!;
      expect(until).toBeGreaterThan(at);
      expect(act(rules, [...upTo, until - at]).at(-1)!.accepted).toBe(true);
      if (until - at > 1) expect(act(rules, [...upTo, until - at - 1]).at(-1)!.accepted).toBe(false);
    }),
  );
});

it('counts each subject separately', () => {
  fc.assert(
    fc.property(limits, pauses, (rules, waits) => {
      const noise = (rows: ReturnType<typeof openRows>, now: number) =>
        rows.run(sql`insert or ignore into rate_limit_events values ('somebody else', ${now}, 'x')`);
      expect(act(rules, waits, noise)).toEqual(act(rules, waits));
    }),
  );
});

it('is unchanged by the cleanup of old events', () => {
  fc.assert(
    fc.property(limits, pauses, (rules, waits) => {
      const sweep = (rows: ReturnType<typeof openRows>, now: number) =>
        rows.run(sql`delete from rate_limit_events where at < ${now - rateLimitEventsKeptMs}`);
      const verdicts = (acts: Act[]) => acts.map(({ accepted }) => accepted);
      expect(verdicts(act(rules, waits, sweep))).toEqual(verdicts(act(rules, waits)));
    }),
  );
});

it('reads a limit as it is written', () => {
  const unit = fc.constantFrom(['s', 1_000], ['m', 60_000], ['h', 3_600_000], ['d', dayMs] as const);
  const part = fc.tuple(fc.integer({ min: 1, max: 999 }), fc.integer({ min: 1, max: 99 }), unit);
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      const text = parts.map(([most, count, [letter]]) => `${most}/${count}${letter}`).join('  ');
      const expected = parts.map(([most, count, [, ms]]) => ({ most, per: count * ms }));
      expect(parseLimits(` ${text} `)).toEqual(expected);
    }),
  );
});
