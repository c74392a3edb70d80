import { describe, expect, it, vi } from 'vitest';
import { users } from '../../drizzle/schema.ts';
import { sameForUser } from '../../worker/billing/sync.ts';
import { readRow } from '../../worker/lib/sql.ts';
import { parallel } from './support/api.ts';
import { buy, checkOut, newSubscriber } from './support/buying.ts';
import { advanceClock, eventually, second } from './support/clock.ts';
import { database, userRowOf } from './support/sandbox.ts';
import { costOf, holdRequests, watchDatabase } from './support/requests.ts';
import { deleteAccount, newPerson, profileOf, userOf } from './support/person.ts';
import { customerOf, eventsOf, postEvent, stripe, subscriptionOf } from './support/stripe.ts';

/** Another call holds the lease until an instant (unix ms). */
function hold(customer: string, leaseUntil: number) {
  const sql = 'update customers set lease_until = ?, lease_token = ? where stripe_id = ?';
  return database.execute(sql, [leaseUntil, crypto.randomUUID(), customer]);
}

/** Replaces the pauses (ms) of the Worker between two looks at the lease, all of at least a second, and returns them. */
function replacePauses(pause: (ms: number) => Promise<void>): number[] {
  const pauses: number[] = [];
  const real = scheduler.wait.bind(scheduler);
  vi.spyOn(scheduler, 'wait').mockImplementation(async (ms, options) => {
    if (ms < second) return real(ms, options);
    pauses.push(ms);
    return pause(ms);
  });
  return pauses;
}

describe('a call that waits for another call of the same user', () => {
  it.each([
    ['continues when the lease is free', 10, 200, null, 'the session check, the acquisition and the release', 3],
    ['gives up after 15 seconds, and may be repeated', 60, 503, '1', 'the session check', 1],
  ])('reads once after each pause, writes nothing, and %s', async (_, seconds, status, retryAfter, besides, cost) => {
    const { token, customer } = await newSubscriber('basic');
    // The clock moves with the pauses alone.
    advanceClock(0);
    const freeAt = Date.now() + seconds * second;
    await hold(customer, freeAt);
    const pauses = replacePauses(async (ms) => advanceClock(ms));
    const requests = watchDatabase(userOf(token));
    const result = await buy(token);
    expect([result.status, result.headers.get('retry-after')]).toEqual([status, retryAfter]);
    expect(requests.filter(({ writes, at }) => writes && at < freeAt)).toEqual([]);
    const paused = pauses.reduce((total, each) => total + each, 0);
    expect(paused).toBeGreaterThanOrEqual(Math.min(seconds, 15) * second);
    expect(paused, 'the patience of a call').toBeLessThan(18 * second);
    expect(costOf(result), `one read after each pause, besides ${besides}`).toBe(pauses.length + cost);
  });

  it('costs no write beside forty-nine others that wait too, and all get the page', async () => {
    const { token, customer } = await newSubscriber('basic');
    advanceClock(0);
    const requests = watchDatabase(userOf(token));
    const { arrived, release } = holdRequests('/v1/', customer);
    const real = scheduler.wait.bind(scheduler);
    const clock = { isStopped: true };
    const pauses = replacePauses(async () => {
      do await real(50);
      while (clock.isStopped);
    });
    const calls = parallel(50, () => buy(token));
    await arrived();
    await eventually(() => expect(pauses, 'the calls that wait for the lease').toHaveLength(49));
    expect(requests.filter((request) => request.writes)).toHaveLength(1);
    clock.isStopped = false;
    release();
    expect((await calls).map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
  });
});

it('a deletion that has lost its lease deletes nothing', async () => {
  const { token, customer } = await newSubscriber('basic');
  const { arrived, release } = holdRequests('/v1/', customer);
  const deletion = deleteAccount(token);
  await arrived();
  await hold(customer, 0);
  release();
  expect((await deletion).status).toBe(503);
  expect((await profileOf(token)).status).toBe('approved');
  expect((await deleteAccount(token)).status).toBe(200);
});

it('an event that arrives during a fetch is fetched for before the lease is released', async () => {
  const { phone, token } = await newPerson();
  await checkOut(token, 'premium');
  const customer = await customerOf(phone);
  const { arrived, release } = holdRequests('synced_at', userOf(token));
  const [first, second_] = await eventsOf(customer);
  const fetched = postEvent(first);
  // The state has been fetched, and is saved next.
  await arrived();
  await stripe.subscriptions.cancel((await subscriptionOf(customer)).id);
  expect((await postEvent(second_)).status).toBe(200);
  release();
  await fetched;
  const sql = `select dirty - synced as missed, lease_until as leaseUntil, failures, tier
    from customers join users on users.id = user_id where stripe_id = ?`;
  const { rows } = await database.execute(sql, [customer]);
  expect(rows[0]).toMatchObject({ missed: 0, leaseUntil: 0, failures: 0, tier: 'free' });
});

it('a stream that opens during a fetch is not a change that the user sees; a plan is', async () => {
  const { phone } = await newPerson();
  const user = readRow(users, { ...(await userRowOf({ phone })) });
  const background = { streamsOpenUntil: Date.now(), billingWatchUntil: Date.now(), usageSeq: user.usageSeq + 1 };
  expect(sameForUser(user, { ...user, ...background })).toBe(true);
  expect(sameForUser(user, { ...user, tier: 'premium' })).toBe(false);
});
