import { describe, expect, it } from 'vitest';
import { call, runCron, send } from './support/api.ts';
import { buyer, orderPage, type Subscriber } from './support/buying.ts';
import { deleteAccount, newPerson, planOf } from './support/person.ts';
import { deliveredEvents, during, type Faults, run } from './support/sandbox.ts';
import { stripe, subscriptionOf } from './support/stripe.ts';

const path = '/api/billing/withdrawal';
const read = (token: string) => call('GET', path, { token });
const withdraw = (token: string) => call('POST', path, { token });

async function refundsOf(customer: string): Promise<number[]> {
  const { data } = await stripe.creditNotes.list({ customer, limit: 100 });
  return data.map(({ total }) => total);
}

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
  ['finds nothing', { stripe: { status: 404 } }],
  ['refuses its subscriptions', { stripe: { status: 400, path: '/v1/subscriptions' } }],
  ['refuses its invoices', { stripe: { status: 400, path: '/v1/invoices' } }],
  ['fails', { stripe: { status: 500 } }],
  ['does not know the customer', { stripe: { unknownCustomer: true } }],
];

describe.each(faults)('while Stripe %s', (_, fault) => {
  it('a statement is kept, told and shown all the same, and takes effect later', async () => {
    const { phone, token, customer } = await buyer('basic', true);
    const { before, stated, shown, again } = await during(fault, async () => ({
      before: await read(token),
      stated: await withdraw(token),
      shown: await read(token),
      again: await withdraw(token),
    }));

    // What only Stripe knows is not made up.
    const known = { tier: 'basic', startNow: true, paid: null, refund: null, currency: 'usd' };
    expect(before).toMatchObject({ status: 200, body: { contract: known, statement: null } });
    const { statement, receipt } = stated.body;
    expect(stated.status).toBe(200);
    expect(statement.state).toBe('received');
    expect(shown).toMatchObject({ status: 200, body: { contract: null, statement, receipt } });
    expect(again).toMatchObject({ status: 200, body: { statement, receipt } });

    await goOn(customer);
    const events = await deliveredEvents(phone);
    const told = events.filter(({ type }) => type === 'withdrawal.received');
    expect(told).toMatchObject([{ data: { receipt } }]);
    const { id } = statement;
    expect((await read(token)).body.statement).toMatchObject({ id, state: 'done' });
    expect(await statementsOf(customer)).toHaveLength(1);
    expect(await refundsOf(customer)).toHaveLength(1);
    expect(await planOf(token)).toEqual(['free', 'active']);
  });

  it('who never bought anything has nothing to withdraw from', async () => {
    const { token } = await newPerson();
    await during(fault, async () => {
      expect(await read(token)).toMatchObject({ status: 200, body: { contract: null } });
      expect(await withdraw(token)).toMatchObject({ status: 409, body: { code: 'conflict' } });
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
  expect(again).toMatchObject({ status: 200, body: { statement: { state: 'done' } } });
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

it.each([
  ['Stripe refuses', { stripe: { status: 400 } }],
  ['is about a customer that Stripe does not know', { stripe: { unknownCustomer: true } }],
] as const)('nobody is kept from leaving by a statement that %s', async (_, fault) => {
  const { token, customer } = await waiting();
  await run('update customers set lease_until = 0 where stripe_id = ?', customer);
  const { rows } = await run('select id from withdrawals order by seq desc limit 1');
  const left = await during(fault, () => deleteAccount(token));
  expect(left.status).toBe(200);
  const kept = await run('select state from withdrawals where id = ?', rows[0]!['id'] as string);
  expect(kept.rows).toMatchObject([{ state: 'needs_owner' }]);
});

it('an order without a payment is no contract, as soon as Stripe says so', async () => {
  const { token } = await newPerson();
  await orderPage(token, { tier: 'basic' });
  expect((await read(token)).body.contract).toBeNull();
  expect(await withdraw(token)).toMatchObject({ status: 409, body: { code: 'conflict' } });
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
