import { describe, expect, it } from 'vitest';
import {
  allowedAtSql,
  CallLimiter,
  parseLimits,
  rateLimitEventsKeptMs,
  type Limit,
} from '../../worker/lib/rate-limits.ts';
import * as fc from 'fast-check';
import { callerAddress, networkOf } from '../../worker/lib/caller.ts';
import { sql } from 'drizzle-orm';
import { openRows } from './models.ts';

/** From when one more act keeps every limit, after these. */
const nextAllowed = (limits: Limit[], accepted: number[]) =>
  Math.max(...limits.map(({ most, per }) => (accepted.at(-most) ?? -Infinity) + per));

describe('the limiter of calls', () => {
  const minute = 60_000;
  const start = Date.UTC(2026, 10, 2);

  it('removes a call that turns out not to belong to the key', () => {
    const limiter = new CallLimiter([{ most: 2, per: minute }]);
    expect(limiter.count('user', start)).toBe(0);
    expect(limiter.count('user', start + 1)).toBe(0);
    limiter.undoCount('user', start + 1);
    limiter.undoCount('user', start + 1);
    expect(limiter.count('user', start + 2)).toBe(0);
    expect(limiter.count('user', start + 3)).toBe(start + minute);
  });

  it('counts each key for itself, allows no window more calls than a limit, and names the instant of the next one', () => {
    const limit = fc.record({
      most: fc.integer({ min: 1, max: 5 }),
      per: fc.constantFrom(100, 1000, minute),
    });
    const wait = fc.constantFrom(0, 1, 50, 99, 100, 999, 1000, minute);
    const calls = fc.array(fc.tuple(wait, fc.constantFrom('one', 'other')), {
      minLength: 1,
      maxLength: 80,
    });
    fc.assert(
      fc.property(
        fc.array(limit, {
          minLength: 1,
          maxLength: 3,
        }),
        calls,
        (limits, waits) => {
          const limiter = new CallLimiter(limits);
          const accepted = { one: [] as number[], other: [] as number[] };
          let now = start;
          for (const [wait, key] of waits) {
            now += wait;
            const next = nextAllowed(limits, accepted[key]);
            expect(limiter.count(key, now)).toBe(next > now ? next : 0);
            if (next <= now) accepted[key].push(now);
          }
        },
      ),
    );
  });
});

it.each([
  ['203.0.113.9', '203.0.113.9', null],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:DB8:1:2::1', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
  ['2001:0db8:0001:0002::', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['::1', '0:0:0:0::/64', '0:0:0::/48'],
  ['::ffff:203.0.113.9', '203.0.113.9', null],
  ['not an address', 'unknown', null],
  [undefined, 'unknown', null],
])('the address %s counts as %s in the network %s', (value, address, network) => {
  expect(callerAddress(new Headers(value ? { 'cf-connecting-ip': value } : {}))).toBe(address);
  expect(networkOf(address)).toBe(network);
});

describe('every limit', () => {
  const dayMs = 86_400_000;
  const start = Date.UTC(2026, 10, 2);
  const per = fc.constantFrom(1_000, 30_000, 3_600_000, dayMs);
  const limits = fc.array(
    fc.record({
      most: fc.integer({ min: 1, max: 5 }),
      per,
    }),
    {
      minLength: 1,
      maxLength: 3,
    },
  );
  /** Pauses at the edges of the limits: the same instant, and a millisecond around each window. */
  const pause = fc.oneof(
    fc.constantFrom(
      0,
      0,
      1,
      999,
      1_000,
      1_001,
      29_999,
      30_000,
      30_001,
      3_599_999,
      3_600_000,
      dayMs - 1,
      dayMs,
    ),
    fc.nat(2 * dayMs),
  );
  const pauses = fc.array(pause, { minLength: 1, maxLength: 40 });

  type Act = { at: number; accepted: boolean; allowedAt: number };

  const rows = openRows(
    'create table rate_limit_events (subject text, at integer, by text, primary key (subject, at, by))',
  );

  const nothing = (_now: number) => {};
  const somebody = (_index: number) => ['somebody'];

  /** Acts after each pause if the limits allow it. */
  function act(rules: Limit[], waits: number[], onAct = nothing, namesAt = somebody): Act[] {
    rows.run(sql`delete from rate_limit_events`);
    let now = start;
    return waits.map((wait, index) => {
      now += wait;
      onAct(now);
      const names = namesAt(index);
      const may = allowedAtSql([{ subject: names, limits: rules }]);
      const until = rows.row<{ at: number }>(sql`select ${may} as at`)!.at;
      rows.run(
        sql`insert into rate_limit_events select ${names[0]}, ${now}, ${index} where ${may} <= ${now}`,
      );
      const { done } = rows.row<{ done: number }>(
        sql`select count(*) as done from rate_limit_events where at = ${now} and by = ${index}`,
      )!;
      return { at: now, accepted: done === 1, allowedAt: until };
    });
  }

  const everyStory = (check: (rules: Limit[], waits: number[]) => void) =>
    fc.assert(fc.property(limits, pauses, check));

  it('allows no window more acts than the limit, counts no refused one, and returns the instant of the next one', () => {
    everyStory((rules, waits) => {
      const done: number[] = [];
      for (const { at, accepted, allowedAt: until } of act(rules, waits)) {
        const next = nextAllowed(rules, done);
        expect({ accepted, until: Math.max(at, until) }).toEqual({
          accepted: next <= at,
          until: Math.max(at, next),
        });
        if (accepted) done.push(at);
      }
    });
  });

  it('counts each subject separately, also while its name is replaced and the former one still read', () => {
    const noise = (now: number) =>
      rows.run(sql`insert or ignore into rate_limit_events values ('somebody else', ${now}, 'x')`);
    everyStory((rules, waits) => {
      const namesAt = (index: number) =>
        index < waits.length / 2 ? ['former'] : ['present', 'former'];
      expect(act(rules, waits, noise, namesAt)).toEqual(act(rules, waits));
    });
  });

  it('is unchanged by the cleanup of old events', () => {
    const sweep = (now: number) =>
      rows.run(sql`delete from rate_limit_events where at < ${now - rateLimitEventsKeptMs}`);
    const verdicts = (acts: Act[]) => acts.map(({ accepted }) => accepted);
    everyStory((rules, waits) => {
      expect(verdicts(act(rules, waits, sweep))).toEqual(verdicts(act(rules, waits)));
    });
  });

  it('reads a limit as it is written', () => {
    const unit = fc.constantFrom(['s', 1_000], ['m', 60_000], ['h', 3_600_000], [
      'd',
      dayMs,
    ] as const);
    const part = fc.tuple(
      fc.integer({
        min: 1,
        max: 999,
      }),
      fc.integer({
        min: 1,
        max: 99,
      }),
      unit,
    );
    fc.assert(
      fc.property(
        fc.array(part, {
          minLength: 1,
          maxLength: 4,
        }),
        (parts) => {
          const text = parts
            .map(([most, count, [letter]]) => `${most}/${count}${letter}`)
            .join('  ');
          const expected = parts.map(([most, count, [, ms]]) => ({
            most,
            per: count * ms,
          }));
          expect(parseLimits(` ${text} `)).toEqual(expected);
        },
      ),
    );
  });
});
