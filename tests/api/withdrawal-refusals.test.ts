import { describe, expect, it } from 'vitest';
import { owedByLaw } from '../faults/withdrawals/law.ts';
import { call, runCron, send } from './support/api.ts';
import { buyer, orderPage, type Subscriber, withdraw } from './support/buying.ts';
import { deleteAccount, newPerson, planOf, userOf } from './support/person.ts';
import { startHeld } from './support/requests.ts';
import { columnsWith, deliveredEvents, during, type Faults, run } from './support/sandbox.ts';
import { advance, hour } from './support/stripe-events.ts';
import { stripe, subscriptionOf, refundsOf, isDeleted } from './support/stripe.ts';
import { fullUnless } from '../long-tours.ts';

const path = '/api/billing/withdrawal';
const read = (token: string) => call('GET', path, { token });

async function statementsOf(customer: string) {
  const own = 'user_id = (select user_id from customers where stripe_id = ?)';
  return (await run(`select state, reason from withdrawals where ${own}`, customer)).rows;
}

/** The cron job goes on with what waits. */
async function goOn(customer: string): Promise<void> {
  const own = 'user_id = (select user_id from customers where stripe_id = ?)';
  await run('update customers set lease_until = 0 where stripe_id = ?', customer);
  await run(`update withdrawals set due_at = 0 where due_at is not null and ${own}`, customer);
  await runCron();
}

const faults: [what: string, faults: Faults][] = [
  ['asks for a payment', { stripe: { status: 402 } }],
  ['refuses', { stripe: { status: 400 } }],
  ['refuses our key', { stripe: { status: 401 } }],
  ['finds nothing', { stripe: { status: 404 } }],
  [
    'refuses its subscriptions',
    {
      stripe: {
        status: 400,
        path: '/v1/subscriptions',
      },
    },
  ],
  [
    'refuses its invoices',
    {
      stripe: {
        status: 400,
        path: '/v1/invoices',
      },
    },
  ],
  ['fails', { stripe: { status: 500 } }],
  ['does not know the customer', { stripe: { unknownCustomer: true } }],
];

/** Refused for good, and refused for a while; the others end like one of these. */
const short = ['refuses', 'refuses our key'];
const optionsOf = (what: string) => fullUnless(short.includes(what));

describe.each(faults)('while Stripe %s', (what, fault) => {
  const options = optionsOf(what);
  it(
    'a statement is kept, told and shown all the same, and takes effect later',
    options,
    async () => {
      const { phone, token, customer } = await buyer('basic', true);
      const { before, stated, shown, again } = await during(fault, async () => ({
        before: await read(token),
        stated: await withdraw(token),
        shown: await read(token),
        again: await withdraw(token),
      }));

      // What only Stripe knows is not made up.
      const known = {
        tier: 'basic',
        startNow: true,
        paid: null,
        refund: null,
        currency: 'usd',
      };
      expect(before).toMatchObject({
        status: 200,
        body: { contract: known, statement: null },
      });
      const { statement, receipt } = stated.body;
      expect(stated.status).toBe(200);
      expect(statement.state).toBe('received');
      expect(shown).toMatchObject({
        status: 200,
        body: {
          contract: null,
          statement,
          receipt,
        },
      });
      expect(again).toMatchObject({
        status: 200,
        body: { statement, receipt },
      });

      await goOn(customer);
      const events = await deliveredEvents(phone);
      const told = events.filter(({ type }) => type === 'withdrawal.received');
      expect(told).toMatchObject([{ data: { receipt } }]);
      const { id } = statement;
      expect((await read(token)).body.statement).toMatchObject({
        id,
        state: 'done',
      });
      expect(await statementsOf(customer)).toHaveLength(1);
      expect(await refundsOf(customer)).toHaveLength(1);
      expect(await planOf(token)).toEqual(['free', 'active']);
    },
  );

  it('somebody who never bought anything has nothing to withdraw from', async () => {
    const { token } = await newPerson();
    await during(fault, async () => {
      expect(await read(token)).toMatchObject({
        status: 200,
        body: { contract: null },
      });
      expect(await withdraw(token)).toMatchObject({
        status: 409,
        body: { code: 'conflict' },
      });
    });
  });
});

/** A statement that Stripe has kept from taking effect. */
async function waiting(): Promise<Subscriber> {
  const person = await buyer('basic');
  await during({ stripe: { status: 400 } }, () => withdraw(person.token));
  expect(await statementsOf(person.customer)).toMatchObject([{ state: 'received' }]);
  return person;
}

it('one statement stands, also when made again once Stripe responds', async () => {
  const { token, customer } = await waiting();
  const again = await withdraw(token);
  expect(again).toMatchObject({
    status: 200,
    body: { statement: { state: 'done' } },
  });
  expect(await statementsOf(customer)).toHaveLength(1);
  expect(await refundsOf(customer)).toEqual([1199]);
});

it('a refund that Stripe refuses for good is left to the owner', async () => {
  const { token, customer } = await buyer('basic');
  const fault = { stripe: { status: 400, path: '/v1/credit_notes' } };
  const { body } = await during(fault, () => withdraw(token));
  expect(body.statement).toMatchObject({ state: 'needs_owner' });
  expect((await subscriptionOf(customer)).status).toBe('canceled');
  expect((await withdraw(token)).body.statement).toMatchObject({ id: body.statement.id });
  expect(await statementsOf(customer)).toHaveLength(1);
});

const stateOf = async (id: string) =>
  (await run('select state, reason, refund, billed_at from withdrawals where id = ?', id)).rows[0]!;

/** Whoever has left with an open statement, while Stripe has a `fault`. */
async function leaving(fault: Faults, startNow = false) {
  const person = await buyer('basic', startNow);
  await advance(person.phone, 50 * hour);
  const { body } = await during({ stripe: { status: 400 } }, () => withdraw(person.token));
  const { id } = body.statement;
  const userId = userOf(person.token);
  await run('update customers set lease_until = 0 where stripe_id = ?', person.customer);
  const left = await during(fault, () => deleteAccount(person.token));
  expect(left.status).toBe(200);
  return { ...person, userId, id: id as string };
}

const isDue = (id: string) =>
  run("update withdrawals set due_at = 0 where state = 'received' and id = ?", id);

/** The hourly job, once the day has passed after which a customer is tried again. */
async function tryAgain(customer: string): Promise<void> {
  await run('update customers set lease_until = 0 where stripe_id = ?', customer);
  await runCron('0 * * * *');
}

it('nobody is kept from leaving by a statement that Stripe refuses', async () => {
  const { id } = await leaving({ stripe: { status: 400 } });
  expect(await stateOf(id)).toMatchObject({
    state: 'needs_owner',
    reason: 'refused',
  });
});

const misunderstandings: [what: string, fault: Faults][] = [
  ['refuses our key', { stripe: { status: 401 } }],
  [
    'does not allow our key to refund',
    {
      stripe: {
        status: 403,
        path: '/v1/credit_notes',
      },
    },
  ],
  ['does not know the customer', { stripe: { unknownCustomer: true } }],
];

describe.each(misunderstandings)('after somebody has left while Stripe %s', (what, fault) => {
  const options = optionsOf(what);
  it(
    'their statement is settled as soon as it does, and the customer closed',
    options,
    async () => {
      const { id, customer } = await leaving(fault, true);
      await during(fault, async () => {
        await isDue(id);
        await runCron();
        await tryAgain(customer);
      });
      expect(await stateOf(id)).toMatchObject({ state: 'received' });
      expect(await isDeleted(customer)).toBe(false);

      await isDue(id);
      await runCron();
      await tryAgain(customer);
      const { data: invoices } = await stripe.invoices.list({
        customer,
        limit: 100,
      });
      const settled = await stateOf(id);
      const owed = owedByLaw(invoices, true, Number(settled['billed_at']));
      expect(settled).toMatchObject({
        state: 'done',
        reason: null,
        refund: owed,
      });
      expect(owed).toBeLessThan(1199);
      expect(await refundsOf(customer)).toEqual([owed]);
      expect(await isDeleted(customer)).toBe(true);
      expect(await columnsWith([customer])).toEqual([]);
    },
  );
});

describe('the statement of somebody who has left while Stripe refused our key', () => {
  const refusedKey = { stripe: { status: 401 } };

  it('is refunded once, whatever is cut off', async () => {
    const { id, customer } = await leaving(refusedKey);
    const remembered: Faults = {
      stripe: {
        status: 500,
        remember: true,
        match: 'email_type',
      },
    };
    await during(remembered, () => tryAgain(customer));
    expect(await stateOf(id)).toMatchObject({ state: 'received' });
    const lost: Faults = {
      stripe: {
        cut: true,
        match: 'email_type',
      },
    };
    await during(lost, () => tryAgain(customer));
    await during(
      {
        libsql: {
          drop: true,
          match: 'withdrawal.refunded',
        },
      },
      () => tryAgain(customer),
    );
    await tryAgain(customer);
    expect(await stateOf(id)).toMatchObject({
      state: 'done',
      refund: 1199,
    });
    expect(await refundsOf(customer)).toEqual([1199]);
    expect(await isDeleted(customer)).toBe(true);
  });

  it('is left to the owner if Stripe refuses the refund for good', async () => {
    const { id, customer } = await leaving(refusedKey);
    const fault = { stripe: { status: 400, path: '/v1/credit_notes' } };
    await during(fault, () => tryAgain(customer));
    expect(await stateOf(id)).toMatchObject({ state: 'needs_owner' });
    expect(await isDeleted(customer)).toBe(true);
  });

  it('is settled once by two cron jobs at once', async () => {
    const { id, customer } = await leaving(refusedKey);
    await run('update customers set lease_until = 0 where stripe_id = ?', customer);
    await isDue(id);
    await Promise.all([runCron('0 * * * *'), runCron('0 * * * *'), runCron(), runCron()]);
    expect(await stateOf(id)).toMatchObject({
      state: 'done',
      refund: 1199,
    });
    expect(await refundsOf(customer)).toEqual([1199]);
  });

  it('stays settled under a cron job that has read it before', async () => {
    const { id, userId, customer } = await leaving(refusedKey);
    await isDue(id);
    const looksForUser = 'select \\"id\\" from \\"users\\"';
    const late = await startHeld(() => runCron(), looksForUser, userId);
    await tryAgain(customer);
    await late.finish();
    expect(await stateOf(id)).toMatchObject({
      state: 'done',
      refund: 1199,
    });
  });

  it('is left to the owner who has closed the customer by hand', async () => {
    const { id, customer } = await leaving(refusedKey);
    await run('delete from customers where stripe_id = ?', customer);
    await isDue(id);
    await runCron();
    expect(await stateOf(id)).toMatchObject({
      state: 'needs_owner',
      reason: 'account_unknown',
    });
  });
});

it('an order without a payment is no contract, as soon as Stripe says so', async () => {
  const { token } = await newPerson();
  await orderPage(token, { tier: 'basic' });
  expect((await read(token)).body.contract).toBeNull();
  expect(await withdraw(token)).toMatchObject({
    status: 409,
    body: { code: 'conflict' },
  });
});

it('a receipt stays as it was given, at its link and wherever else it is shown', async () => {
  const { token, customer } = await buyer('basic', true);
  const { body } = await during({ stripe: { status: 500 } }, () => withdraw(token));
  expect(body.receipt).not.toContain('$');
  await goOn(customer);

  const again = await withdraw(token);
  expect(again.body.statement.refund).toBeGreaterThan(0);
  expect(again.body.receipt).toBe(body.receipt);
  expect((await read(token)).body.receipt).toBe(body.receipt);
  const link = new URL(/https?:\S+$/.exec(body.receipt)![0]);
  const file = await send(link.pathname + link.search);
  expect(await file.text()).toBe(`${body.receipt}\n`);
  const exported = await call('GET', '/api/user/export', { token });
  expect(exported.body.withdrawals).toMatchObject([{ receipt: body.receipt }]);
  const change = "update withdrawals set receipt = 'x' where id = ?";
  await expect(run(change, body.statement.id)).rejects.toThrow();
});
