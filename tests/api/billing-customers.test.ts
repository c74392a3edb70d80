import { env } from 'cloudflare:workers';
import type { Stripe } from 'stripe';
import { describe, expect, it, vi } from 'vitest';
import { getTableColumns } from 'drizzle-orm';
import { users, type User } from '../../drizzle/schema.ts';
import { sameForUser } from '../../worker/billing/sync.ts';
import { openDatabase } from '../../worker/lib/database.ts';
import { adoptCustomers } from '../../worker/operations/after-restore/adopt-customers.ts';
import { settingsOf } from '../../worker/settings.ts';
import { call, parallel, runCron } from './support/api.ts';
import { buy, checkOut, newSubscriber, onTrial, subscribe, verify } from './support/buying.ts';
import { advanceClock, eventually, minute, second, until } from './support/clock.ts';
import { shortenPauses } from './support/pauses.ts';
import { beginChange, verifyChange } from './support/codes.ts';
import {
  deleteAccount,
  metadataOf,
  newPerson,
  type Person,
  planOf,
  profileOf,
  userOf,
} from './support/person.ts';
import { costOf, holdRequests, logLines, startHeld, watchDatabase } from './support/requests.ts';
import { during, run, sandbox, userRowOf } from './support/sandbox.ts';
import { eventsOf, fetchByCron, postEvent } from './support/stripe-events.ts';
import {
  customerOf,
  customersWith,
  holdLease,
  paymentsOf,
  stripe,
  subscriptionOf,
} from './support/stripe.ts';
import { fullUnless } from '../long-tours.ts';

it('a restore adopts no customer for somebody who gets another one at this moment', async () => {
  const { token, phone, customer } = await newSubscriber('basic');
  const mine = 'where user_id = ?';
  await run(`update customers set stripe_id = null ${mine}`, userOf(token));
  const settings = settingsOf(env)!;
  const db = openDatabase(settings, { requests: 0, unreachable: false });
  const created = 1000 * ((await stripe.customers.retrieve(customer)) as Stripe.Customer).created;
  const restore = {
    db,
    settings,
    at: created + 10 * minute,
    until: Date.now(),
    isDry: false,
  };
  const adopt = () => adoptCustomers.run(restore).catch((error: Error) => error.message);
  const adopting = await startHeld(adopt, 'GET', '/v1/subscriptions', customer);
  await run(`update customers set stripe_id = 'cus_another' ${mine}`, userOf(token));
  expect(await adopting.finish()).toBe(`${phone} is buying at this moment.`);
  expect(await customerOf(phone)).toBe('cus_another');

  await run(`update customers set stripe_id = null ${mine}`, userOf(token));
  const { done } = await adoptCustomers.run(restore);
  expect(done).toContain(`${phone} has the customer ${customer}: adopted`);
  expect(await customerOf(phone)).toBe(customer);
});

it('a restore goes on past a customer whom the row of another account names', async () => {
  const [{ token, phone, customer }, other] = [await newSubscriber('basic'), await newPerson()];
  const given = 'update customers set user_id = ? where stripe_id = ?';
  await run(given, userOf(other.token), customer);
  const db = openDatabase(settingsOf(env)!, {
    requests: 0,
    unreachable: false,
  });
  const created = 1000 * ((await stripe.customers.retrieve(customer)) as Stripe.Customer).created;
  const at = created + 10 * minute;
  const restore = {
    db,
    settings: settingsOf(env)!,
    at,
    until: Date.now(),
    isDry: false,
  };
  const { unknown } = await adoptCustomers.run(restore);
  expect(unknown).toContainEqual(expect.stringContaining(`${phone} has the customer ${customer}`));
  expect(await customerOf(other.phone)).toBe(customer);
  await run(given, userOf(token), customer);
});

const createPortal = (token: string) =>
  call('POST', '/api/billing/create-portal-session', { token });
const lost = { cut: true } as const;
/** Stripe stores the failure under the idempotency key of the request. */
const storedFailure = { status: 500, remember: true } as const;

/** A user who wanted to buy a plan while Stripe failed at the creation of the customer. */
async function refused(fault: object): Promise<Person> {
  const person = await newPerson();
  const stripeFault = {
    stripe: {
      ...fault,
      path: '/v1/customers',
      match: userOf(person.token),
    },
  };
  const refusal = await during(stripeFault, () => buy(person.token, 'basic'));
  expect(refusal).toMatchObject({
    status: 503,
    body: { code: 'unavailable' },
  });
  expect(await customerOf(person.phone)).toBeNull();
  expect(await customersWith(person.phone)).toHaveLength(fault === lost ? 1 : 0);
  return person;
}

describe.each([
  ['a lost response', lost],
  ['a stored 500', storedFailure],
])('the creation of a customer with %s', (_, fault) => {
  // A stored failure takes the longer way; the lost response is tried each night.
  const options = fullUnless(fault === storedFailure);
  it('does not block buying, which is charged once', options, async () => {
    const { phone, token } = await refused(fault);
    await subscribe(token, 'basic');
    expect(await planOf(token)).toEqual(['basic', 'active']);
    expect(await customersWith(phone)).toEqual([await customerOf(phone)]);
    expect(await paymentsOf(await customerOf(phone))).toHaveLength(1);
  });

  it('is found or repeated by the next cron job', { tags: ['full'] }, async () => {
    const { phone } = await refused(fault);
    await runCron();
    expect(await customersWith(phone)).toEqual([await customerOf(phone)]);
  });

  it(
    'leaves nothing behind when the account is deleted, as soon as Stripe responds',
    options,
    async () => {
      const { phone, token } = await refused(fault);
      const refusal = await during(
        {
          stripe: {
            status: 500,
            match: userOf(token),
          },
        },
        () => deleteAccount(token),
      );
      expect(refusal.status).toBe(503);
      expect((await profileOf(token)).status).toBe('approved');
      expect((await deleteAccount(token)).body).toEqual({ success: true });
      expect(await customersWith(phone)).toEqual([]);
    },
  );
});

/** Stripe's search finds a new customer later than its list does. */
const isSearchable = async ({ token }: Person) => {
  const query = `metadata['userId']:'${userOf(token)}'`;
  return (await stripe.customers.search({ query })).data.length > 0;
};

for (const [when, wait] of [
  ['at once', async () => undefined],
  ['after the search finds it', (person: Person) => until('the index', () => isSearchable(person))],
] as const)
  it(
    `a customer whose id was lost blocks neither buying nor leaving after a change of the number ${when}`,
    fullUnless(when === 'at once'),
    async () => {
      shortenPauses();
      const [buyer, leaver] = [await refused(lost), await refused(lost)];
      for (const person of [buyer, leaver]) {
        await wait(person);
        const change = await beginChange(person.token);
        expect((await verifyChange(person.token, change)).status).toBe(200);
        const ask = () =>
          person === buyer ? buy(person.token, 'basic') : deleteAccount(person.token);
        const first = await ask();
        expect(first.status === 200 ? first : await ask()).toMatchObject({
          status: 200,
          body: { success: true },
        });
        const customers = [
          ...(await customersWith(person.phone)),
          ...(await customersWith(change.phone)),
        ];
        expect(customers).toEqual(person === buyer ? [await customerOf(change.phone)] : []);
        expect(await customersWith(person.phone)).toEqual([]);
      }
    },
  );

it('a customer whose id was lost is used by a later attempt, which creates no second one', async () => {
  const { phone, token } = await refused(lost);
  await run('update customers set attempt = 2 where user_id = ?', userOf(token));
  await subscribe(token, 'basic');
  expect(await customersWith(phone)).toEqual([await customerOf(phone)]);
});

it('a customer whose id was lost is deleted with the account, also beside another one that is known', async () => {
  const { phone, token, customer } = await newSubscriber('basic');
  await run('update customers set attempt = 2 where stripe_id = ?', customer);
  await stripe.customers.create({
    phone,
    metadata: { userId: userOf(token), phone },
  });
  expect(await customersWith(phone)).toHaveLength(2);
  expect((await deleteAccount(token)).body).toEqual({ success: true });
  expect(await customersWith(phone)).toEqual([]);
});

describe('a customer that was deleted in the dashboard', () => {
  it('leaves nothing behind when the response about the next one is lost and the account is deleted', async () => {
    const { phone, token } = await newPerson();
    await buy(token, 'basic');
    await stripe.customers.del(await customerOf(phone));
    const fault = {
      ...lost,
      path: '/v1/customers',
      match: phone.slice(1),
    };
    expect((await during({ stripe: fault }, () => buy(token, 'basic'))).status).toBe(503);
    expect(await customersWith(phone)).toHaveLength(1);
    expect((await deleteAccount(token)).status).toBe(200);
    expect(await customersWith(phone)).toEqual([]);
  });

  it('loses the card saved for the end of the trial, while the trial continues', async () => {
    const { phone, token } = await onTrial('premium');
    await checkOut(token, 'basic');
    const customer = await customerOf(phone);
    await stripe.customers.del(customer);
    await runCron();
    const { rows } = await run('select setup_session from customers where stripe_id = ?', customer);
    expect(rows[0]!.setup_session).toBeNull();
    expect((await profileOf(token)).isTrial).toBe(true);
    expect((await buy(token, 'basic')).status).toBe(200);
  });

  it('ends the plan, and blocks neither the next plan nor the deletion', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    await stripe.customers.del(customer);
    await fetchByCron(customer, '0 * * * *');
    const body = { message: 'No billing account yet. Choose a plan first.' };
    expect(await createPortal(token)).toMatchObject({
      status: 409,
      body,
    });
    expect(await planOf(token)).toEqual(['free', 'active']);
    await subscribe(token, 'premium');
    expect(await planOf(token)).toEqual(['premium', 'active']);
    expect((await deleteAccount(token)).status).toBe(200);
    expect(await customersWith(phone)).toEqual([]);
  });
});

it('a stored 500 for the subscription after the trial blocks neither the cron job, which starts the plan, nor leaving', async () => {
  const { phone, token } = await onTrial('premium');
  const session = await checkOut(token, 'basic');
  const customer = await customerOf(phone);
  const fault = {
    ...storedFailure,
    path: '/v1/subscriptions',
    match: customer,
  };
  expect((await during({ stripe: fault }, () => verify(token, session))).status).toBe(503);
  await runCron();
  expect((await verify(token, session)).status).toBe(200);
  const plan = {
    subscriptionStatus: 'trialing',
    scheduledDowngradeTierId: 'basic',
  };
  expect(await metadataOf(token)).toMatchObject(plan);
  expect(
    (
      await stripe.subscriptions.list({
        customer,
        status: 'all',
      })
    ).data,
  ).toMatchObject([{ status: 'trialing' }]);
  expect((await deleteAccount(token)).status).toBe(200);
  expect(await customersWith(phone)).toEqual([]);
});

it('a customer that Stripe does not know keeps the plan, and the log says so', async () => {
  const { token, customer } = await newSubscriber('premium');
  await during(
    {
      stripe: {
        unknownCustomer: true,
        match: customer,
      },
    },
    async () => {
      await fetchByCron(customer);
      expect(logLines('stripe_customer_unknown')).toContainEqual(
        expect.objectContaining({ customer }),
      );
      expect(await planOf(token)).toEqual(['premium', 'active']);
      const answers = [
        await createPortal(token),
        await buy(token, 'basic'),
        await call('POST', '/api/billing/cancel', { token }),
        await call('POST', '/api/billing/resume', { token }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
    },
  );
  expect(await planOf(token)).toEqual(['premium', 'active']);
  expect((await deleteAccount(token)).status).toBe(200);
  expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
});

it('a deletion goes on when Stripe refuses to void an invoice', async () => {
  const { phone, token, customer } = await newSubscriber('basic');
  await sandbox.card(phone, true);
  await sandbox.advanceStripe(phone, 8 * 86_400);
  const [invoice] = (
    await stripe.invoices.list({
      customer,
      status: 'open',
    })
  ).data;
  const fault = { status: 400, path: `/v1/invoices/${invoice!.id}/void` };
  expect((await during({ stripe: fault }, () => deleteAccount(token))).body).toEqual({
    success: true,
  });
  expect((await stripe.invoices.retrieve(invoice!.id)).status).toBe('open');
  expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
});

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
    [
      'continues when the lease is free',
      10,
      200,
      null,
      'the session check, the acquisition and the release',
      3,
    ],
    ['gives up after 15 seconds, and may be repeated', 60, 503, '1', 'the session check', 1],
  ])(
    'reads once after each pause, writes nothing, and %s',
    async (_, seconds, status, retryAfter, besides, cost) => {
      const { token, customer } = await newSubscriber('basic');
      // The clock moves with the pauses alone.
      advanceClock(0);
      const freeAt = Date.now() + seconds * second;
      await holdLease(customer, freeAt);
      const pauses = replacePauses(async (ms) => advanceClock(ms));
      const requests = watchDatabase(userOf(token));
      const result = await buy(token);
      expect([result.status, result.headers.get('retry-after')]).toEqual([status, retryAfter]);
      expect(requests.filter(({ writes, at }) => writes && at < freeAt)).toEqual([]);
      const paused = pauses.reduce((total, each) => total + each, 0);
      expect(paused).toBeGreaterThanOrEqual(Math.min(seconds, 15) * second);
      expect(paused, 'the patience of a call').toBeLessThan(18 * second);
      expect(costOf(result), `one read after each pause, besides ${besides}`).toBe(
        pauses.length + cost,
      );
    },
  );

  it('costs one write each at most beside eighteen others, which then only read, and all get the page', async () => {
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
    const calls = parallel(19, () => buy(token));
    await arrived();
    await eventually(() => expect(pauses, 'the calls that wait for the lease').toHaveLength(18));
    // Whoever sees another's lease at its first look does not even try.
    const tries = requests.filter(({ writes }) => writes);
    expect(tries.length).toBeLessThanOrEqual(19);
    clock.isStopped = false;
    release();
    expect((await calls).map(({ status }) => status)).toEqual(
      Array.from({ length: 19 }, () => 200),
    );
  });
});

it('a deletion that has lost its lease deletes nothing', async () => {
  const { token, customer } = await newSubscriber('basic');
  const deletion = await startHeld(() => deleteAccount(token), '/v1/', customer);
  await holdLease(customer, 0);
  expect((await deletion.finish()).status).toBe(503);
  expect((await profileOf(token)).status).toBe('approved');
  expect((await deleteAccount(token)).status).toBe(200);
});

describe('a purchase that has lost its lease', () => {
  /** A second purchase, while Stripe opens its checkout. */
  async function heldPurchase() {
    const person = await newPerson();
    await buy(person.token, 'basic');
    const customer = await customerOf(person.phone);
    const marks = ['POST', '/v1/checkout/sessions', customer];
    const { finish } = await startHeld(() => buy(person.token, 'premium'), ...marks);
    return { ...person, customer, finish };
  }

  it('makes no customer for an account that was deleted meanwhile', async () => {
    const { phone, token, finish } = await heldPurchase();
    advanceClock(46 * second);
    expect((await deleteAccount(token)).status).toBe(200);
    expect((await finish()).status).toBe(503);
    expect(await customersWith(phone)).toEqual([]);
  });

  it('returns no page that another call may have closed', async () => {
    const { token, customer, finish } = await heldPurchase();
    await holdLease(customer, 0);
    await fetchByCron(customer);
    expect((await finish()).status).toBe(503);
    expect((await buy(token, 'premium')).status).toBe(200);
  });
});

it('an event that arrives during a fetch is fetched for before the lease is released', async () => {
  const { phone, token } = await newPerson();
  await checkOut(token, 'premium');
  const customer = await customerOf(phone);
  const [first, second_] = await eventsOf(customer);
  // The state has been fetched, and is saved next.
  const fetching = await startHeld(() => postEvent(first), 'synced_at', userOf(token));
  await stripe.subscriptions.cancel((await subscriptionOf(customer)).id);
  expect((await postEvent(second_)).status).toBe(200);
  await fetching.finish();
  const sql = `select dirty - synced as missed, lease_until as leaseUntil, failures, tier
    from customers join users on users.id = user_id where stripe_id = ?`;
  expect((await run(sql, customer)).rows).toMatchObject([
    { missed: 0, leaseUntil: 0, failures: 0, tier: 'free' },
  ]);
});

it('a stream that opens during a fetch is not a change that the user sees; a plan is', async () => {
  const { phone } = await newPerson();
  const row = await userRowOf({ phone });
  const columns = Object.entries(getTableColumns(users));
  const user = Object.fromEntries(
    columns.map(([key, { name }]) => [key, row[name]]),
  ) as unknown as User;
  const background = {
    streamsOpenUntil: Date.now(),
    billingWatchUntil: Date.now(),
    usageSeq: user.usageSeq + 1,
  };
  expect(sameForUser(user, { ...user, ...background })).toBe(true);
  expect(sameForUser(user, { ...user, tier: 'premium' })).toBe(false);
});
