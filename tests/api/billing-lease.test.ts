import { describe, expect, it, vi } from 'vitest';
import { users } from '../../drizzle/schema.ts';
import { refuseUnknownCustomer } from '../../worker/billing/customer.ts';
import { sameForUser } from '../../worker/billing/sync.ts';
import { readRow } from '../../worker/lib/sql.ts';
import { call, send } from './support/api.ts';
import { buy, complete, newSubscriber, profileOf, verify } from './support/buying.ts';
import { runCron } from './support/cron.ts';
import { watchDatabase } from './support/database-requests.ts';
import { database } from './support/database.ts';
import { parallel } from './support/parallel.ts';
import { newPerson } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';
import { customerOf, stripe } from './support/stripe.ts';

const hold = (customer: string, until: number) =>
  database.execute({
    sql: "update customers set lease_until = ?, lease_token = 'another' where stripe_id = ?",
    args: [until, customer],
  });

describe('a call that waits for another call of the same user', () => {
  it('reads at most once a second and writes nothing; a hundred cost less than 20 writes a second', async () => {
    const { token, customer } = await newSubscriber('basic');
    await hold(customer, Date.now() + 4000);
    const requests = watchDatabase();
    const begin = Date.now();
    const calls = parallel(100, () => buy(token));
    await scheduler.wait(3500);
    const waiting = requests.filter(({ at }) => at < begin + 3500);
    expect(waiting.filter(({ writes }) => writes)).toEqual([]);
    // The first read of each call is its session check.
    expect(waiting.length).toBeLessThanOrEqual(100 * 4);
    expect((await calls).map(({ status }) => status)).toContain(200);
  });

  it('costs no write when it arrives at the same time as forty-nine others, and all get the page or may try again', async () => {
    const { token } = await newSubscriber('basic');
    await sandbox.faults({ stripe: { delayMs: 1500 } });
    const requests = watchDatabase();
    const begin = Date.now();
    const calls = parallel(50, () => buy(token));
    await scheduler.wait(1000);
    expect(requests.filter(({ at, writes }) => writes && at < begin + 1000).length).toBeLessThan(20);
    await sandbox.faults({ stripe: null });
    const answers = await calls;
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(10);
    const others = answers.filter(({ status }) => status !== 200);
    for (const { status, headers } of others) expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  });
});

describe('when the caller disconnects', () => {
  const disconnect = async (method: string, path: string, token: string, body?: unknown) => {
    await sandbox.faults({ stripe: { delayMs: 400 } });
    const caller = new AbortController();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = { method, headers, signal: caller.signal, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const sent = send(path, init).catch(() => null);
    await scheduler.wait(200);
    caller.abort();
    await sent;
    await sandbox.faults({ stripe: null });
  };

  it('a purchase that has begun continues, and the next call need not wait for its lease', async () => {
    const { phone, token } = await newPerson();
    await disconnect('POST', '/api/billing/create-subscription-update-session', token, { tier: 'basic' });
    await vi.waitFor(async () => expect(await customerOf(phone)).toMatch(/^cus_/), { timeout: 5000 });
    const begin = Date.now();
    expect((await buy(token, 'basic')).status).toBe(200);
    expect(Date.now() - begin).toBeLessThan(5000);
  });

  it('a deletion that has begun continues', async () => {
    const { token, customer } = await newSubscriber('basic');
    await disconnect('DELETE', '/api/user/me', token);
    await vi.waitFor(async () => expect((await call('GET', '/api/user/me', { token })).status).toBe(401), {
      timeout: 8000,
      interval: 300,
    });
    expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
  });
});

it('a deletion that has lost its lease deletes nothing', async () => {
  const { token, customer } = await newSubscriber('basic');
  await sandbox.faults({ stripe: { delayMs: 300 } });
  const deletion = call('DELETE', '/api/user/me', { token });
  await scheduler.wait(450);
  await hold(customer, 0);
  expect((await deletion).status).toBe(503);
  await sandbox.faults({ stripe: null });
  expect((await profileOf(token)).status).toBe('approved');
  expect((await call('DELETE', '/api/user/me', { token })).status).toBe(200);
});

it('an event that arrives during a fetch is fetched for before the lease is released', async () => {
  const { phone, token } = await newPerson();
  const session = await complete((await buy(token, 'premium')).body.portalUrl);
  await verify(token, session);
  const customer = await customerOf(phone);
  await database.execute({
    sql: 'update customers set dirty = dirty + 1, due_at = 0 where stripe_id = ?',
    args: [customer],
  });
  await runCron();
  const { rows } = await database.execute({
    sql: 'select dirty - synced as missed, lease_until as until, failures from customers where stripe_id = ?',
    args: [customer],
  });
  expect(rows[0]).toMatchObject({ missed: 0, until: 0, failures: 0 });
});

it('a stream that opens during a fetch is not a change that the user sees; a plan is', async () => {
  const { phone } = await newPerson();
  const { rows } = await database.execute({ sql: 'select * from users where phone = ?', args: [phone] });
  const user = readRow(users, { ...rows[0] });
  const background = { streamsOpenUntil: Date.now(), billingWatchUntil: Date.now(), usageSeq: user.usageSeq + 1 };
  expect(sameForUser(user, { ...user, ...background })).toBe(true);
  expect(sameForUser(user, { ...user, tier: 'premium' })).toBe(false);
});

it('a customer that Stripe does not know stops the work', () => {
  expect(() => refuseUnknownCustomer('cus_unknown')).toThrow('unavailable');
});
