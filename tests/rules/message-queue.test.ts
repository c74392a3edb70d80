import { sql, type Query } from 'drizzle-orm';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { User } from '../../drizzle/schema.ts';
import { queueMessage, type Queueing } from '../../worker/chat/message-queue.ts';
import { messageRefusal } from '../../worker/chat/message-refusal.ts';
import { entitledTier, weeklyAllowance } from '../../worker/usage/allowance.ts';
import { currentCount, weekMs } from '../../worker/usage/week.ts';
import { paidPlanIds, planIds, plans } from '../../worker/contract/plans.ts';
import { openRows } from './models.ts';

const now = 1_800_000_000_000;
const mostWaiting = 5;
const schema = `
  create table sessions (id text, user_id text, expires_at integer, is_limited integer, binding_mac text);
  create table users (id text, phone text, status text, chat_key text, tier text, tier_waits integer, trial_tier text,
    trial_ends_at integer, week_anchor integer, week_frozen integer, week_start integer, used integer);
  create table aliases (kind text, value text, user_id text, binding_mac text);
  create table outbox (seq integer primary key autoincrement, id text unique, user_id text, phone text, body text,
    message_id text, created_at integer, attempts integer, due_at integer, leased_until integer, parked_at integer)`;

const message: Queueing = {
  sessionId: 'session',
  userId: 'one',
  whilePending: 0,
  needsSignIn: 1,
  limitedMacs: '["limited"]',
  messageId: 'new',
  kind: 'text',
  locale: 'en',
  country: null,
  now,
  mostWaiting,
};

const session = `insert into sessions values ('session', 'one', ${now + 1}, 0, 'full')`;

/** What reads the decision, and what queues the event. */
function queriesOf(queued: Queueing, inCrisis = false): [Query, Query] {
  const [decide, enqueue] = queueMessage(queued, inCrisis);
  return [decide.prepare().getQuery(), enqueue.prepare().getQuery()];
}

/** Both columns of a trial are null, or neither. */
const trial = fc.oneof(
  fc.constant({ trialTier: null, trialEndsAt: null }),
  fc.record({
    trialTier: fc.constantFrom(...paidPlanIds),
    trialEndsAt: fc.constantFrom(now - 1, now + 1),
  }),
);

const account = fc.record({
  chatKey: fc.constantFrom('key', null),
  tier: fc.constantFrom(...planIds),
  tierWaits: fc.boolean(),
  weekAnchor: fc.constantFrom(now - weekMs / 2, now - (3 * weekMs) / 2),
  weekFrozen: fc.boolean(),
  weekStart: fc.constantFrom(now - weekMs / 2, now - (3 * weekMs) / 2),
  used: fc.oneof(fc.nat(60), fc.constantFrom(4, 5, 49, 50, 149, 150, 1_000_000)),
});

const person = fc.tuple(account, trial).map(([held, given]) => ({
  ...held,
  ...given,
}));

it('queues a message, or names the first reason of the refusal, which the response explains', () => {
  const rows = openRows(schema);
  rows.exec(session);
  const cases = fc.record({
    user: person,
    waiting: fc.nat(mostWaiting + 1),
    kind: fc.constantFrom('text' as const, 'voice' as const),
    inCrisis: fc.boolean(),
  });
  fc.assert(
    fc.property(cases, ({ user, waiting, kind, inCrisis }) => {
      for (const table of ['users', 'outbox']) rows.exec(`delete from ${table}`);
      rows.run(sql`insert into users values ('one', '+1', 'approved', ${user.chatKey}, ${user.tier}, ${Number(user.tierWaits)},
        ${user.trialTier}, ${user.trialEndsAt}, ${user.weekAnchor}, ${Number(user.weekFrozen)}, ${user.weekStart}, ${user.used})`);
      for (let index = 0; index < waiting; index += 1)
        rows.run(
          sql`insert into outbox (id, user_id, message_id) values (${`m${index}`}, 'one', ${`m${index}`})`,
        );

      const [decide, enqueue] = queriesOf({ ...message, kind }, inCrisis);
      const outcome = rows.row<{ outcome: string }>(decide)!.outcome;
      const event = rows.row<{ leased_until: number }>(enqueue);

      const tier = entitledTier(user, now);
      const { used } = currentCount(user as User, now);
      const limit = weeklyAllowance(tier);
      const isSpent = limit >= 0 && used + 1 > limit && !inCrisis;
      const reasons = [
        ['consentNeeded', user.chatKey === null],
        ['voiceNotInPlan', kind === 'voice' && !plans[tier].hasVoice],
        ['allowanceSpent', isSpent],
        ['rateLimited', waiting >= mostWaiting && !(inCrisis && kind === 'text')],
      ] as const;
      const expected = reasons.find(([, applies]) => applies)?.[0] ?? 'queued';
      expect(outcome).toBe(expected);
      expect(event === undefined).toBe(expected !== 'queued');
      if (event) expect(event.leased_until === 0).toBe(waiting > 0);
      if (expected !== 'queued')
        expect(messageRefusal(expected, user as User, now).errorName).toBe(expected);
    }),
  );
});

it('gives each request of one message, also of one millisecond, a time of its own', () => {
  const rows = openRows(schema);
  rows.exec(session);
  rows.exec(`insert into users values
    ('one', '+1', 'approved', 'key', 'free', 0, null, null, ${now}, 0, ${now}, 0)`);
  const [, enqueue] = queriesOf(message);
  const times = [1, 2, 3].map(() => rows.row<{ created_at: number }>(enqueue)!.created_at);
  expect(times).toEqual([now, now + 1, now + 2]);
});

it.each([
  ['a session that has ended', `update sessions set expires_at = ${now}`, {}],
  ['a session of somebody else', `update sessions set user_id = 'two'`, {}],
  ['a pending account', `update users set status = 'pending'`, {}],
  ['a limited session', 'update sessions set is_limited = 1', {}],
  [
    'a limited session whose row says that it is full',
    `update sessions set binding_mac = 'limited'`,
    {},
  ],
  ['nobody', '', { sessionId: 'another' }],
])('queues nothing for %s', (_, change, changes) => {
  const rows = openRows(schema);
  rows.exec(session);
  rows.exec(`insert into users values
    ('one', '+1', 'approved', 'key', 'free', 0, null, null, ${now}, 0, ${now}, 0)`);
  rows.exec(change);
  const [decide, enqueue] = queriesOf({ ...message, ...changes });
  expect(rows.row(enqueue)).toBeUndefined();
  expect(rows.row(decide)).toBeUndefined();
});

it('queues a message of a pending account or limited session where the call admits it', () => {
  const rows = openRows(schema);
  rows.exec(session);
  rows.exec('update sessions set is_limited = 1');
  rows.exec(`insert into users values
    ('one', '+1', 'pending', 'key', 'free', 0, null, null, ${now}, 0, ${now}, 0)`);
  const [decide, enqueue] = queriesOf({
    ...message,
    whilePending: 1,
    needsSignIn: 0,
  });
  expect(rows.row(decide)).toMatchObject({ outcome: 'queued' });
  expect(rows.row(enqueue)).toMatchObject({ message_id: 'new' });
});
