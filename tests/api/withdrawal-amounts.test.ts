import { describe, expect, it } from 'vitest';
import { call, runCron } from './support/api.ts';
import { buyer, orderPage, type Subscriber, withdraw } from './support/buying.ts';
import { newPerson } from './support/person.ts';
import { holdRequests } from './support/requests.ts';
import { deliveredEvents, during, run, type Faults } from './support/sandbox.ts';
import { advance, deliver, hour, week } from './support/stripe-events.ts';
import { customerOf, paymentsOf, stripe, stripeCoupon, subscriptionOf } from './support/stripe.ts';
import { fullUnless } from '../long-tours.ts';

const day = 24 * hour;
const path = '/api/billing/withdrawal';
const contractOf = async (token: string) => (await call('GET', path, { token })).body.contract;

async function balanceOf(customer: string): Promise<number> {
  const found = await stripe.customers.retrieve(customer);
  return found.deleted ? NaN : found.balance;
}

/** What went back of each payment, newest first. */
async function refundsOf(customer: string): Promise<number[]> {
  const { data } = await stripe.charges.list({ customer, limit: 100 });
  return data.map(({ amount_refunded: amount }) => amount);
}

async function noteTotals(customer: string): Promise<number[]> {
  const { data } = await stripe.creditNotes.list({
    customer,
    limit: 100,
  });
  return data.map(({ total }) => total).toSorted((a, b) => a - b);
}

describe('weeks that cost less than Stripe charges', () => {
  /** A coupon leaves 36 cents of each later week: Stripe charges them with the week after. */
  async function cheapBuyer(startNow: boolean): Promise<Subscriber> {
    const person = await buyer('basic', startNow);
    await stripeCoupon(person.customer, { percent_off: 97 });
    return person;
  }

  it('come back from the payment that paid them later', async () => {
    const { phone, token, customer } = await cheapBuyer(false);
    await advance(phone, 2 * week + 2 * hour);
    expect(await paymentsOf(customer)).toEqual([72, 1199]);
    expect(await contractOf(token)).toMatchObject({
      paid: 1271,
      refund: 1271,
    });
    expect((await withdraw(token)).body.statement).toMatchObject({
      state: 'done',
      refund: 1271,
    });
    expect(await refundsOf(customer)).toEqual([72, 1199]);
    expect(await noteTotals(customer)).toEqual([36, 36, 1199]);
    expect(await balanceOf(customer)).toBe(0);
  });

  it('are paid for by the time of their own week, and not by that of the later payment', async () => {
    const { phone, token, customer } = await cheapBuyer(true);
    await advance(phone, 2 * week + 16 * hour);
    expect(await contractOf(token)).toMatchObject({
      paid: 1271,
      refund: 33,
    });
    expect((await withdraw(token)).body.statement).toMatchObject({
      state: 'done',
      refund: 33,
    });
    expect(await refundsOf(customer)).toEqual([33, 0]);
  });

  it('are owed no more where nothing was charged yet', async () => {
    const { phone, token, customer } = await cheapBuyer(false);
    await advance(phone, week + 2 * hour);
    expect(await balanceOf(customer)).toBe(36);
    expect(await contractOf(token)).toMatchObject({
      paid: 1199,
      refund: 1199,
    });
    await withdraw(token);
    expect(await refundsOf(customer)).toEqual([1199]);
    expect(await balanceOf(customer)).toBe(0);
  });

  it('are owed for the time alone, where the buyer asked to start at once', async () => {
    const { phone, token, customer } = await cheapBuyer(true);
    await advance(phone, week + 3.5 * day);
    await withdraw(token);
    expect(await refundsOf(customer)).toEqual([0]);
    expect(await balanceOf(customer)).toBe(18);
  });

  it('give no credit for what an unpaid week asks for, which is collected no more', async () => {
    const { phone, token, customer } = await cheapBuyer(false);
    await advance(phone, week + 2 * hour);
    const { default_payment_method: method } = await subscriptionOf(customer);
    await stripe.paymentMethods.detach(method as string);
    await advance(phone, week);
    expect(await paymentsOf(customer)).toEqual([1199]);
    await withdraw(token);
    expect(await refundsOf(customer)).toEqual([1199]);
    expect(await balanceOf(customer)).toBe(0);
  });

  it('never give back more than an owner has left of the later payment', async () => {
    const { phone, token, customer } = await cheapBuyer(false);
    await advance(phone, 2 * week + 2 * hour);
    const { data } = await stripe.charges.list({ customer });
    await stripe.refunds.create({ charge: data[0]!.id, amount: 50 });
    expect(await contractOf(token)).toMatchObject({ refund: 1221 });
    expect((await withdraw(token)).body.statement).toMatchObject({
      state: 'done',
      refund: 1221,
    });
    expect(await refundsOf(customer)).toEqual([72, 1199]);
  });

  for (const [when, fault] of [
    ['before it', { stripe: { status: 500, match: 'credit_note]' } }],
    ['after it', { stripe: { cut: true, match: 'credit_note]' } }],
    [
      'after it, and remembered',
      {
        stripe: {
          status: 500,
          remember: true,
          match: 'credit_note]',
        },
      },
    ],
  ] satisfies [string, Faults][])
    it(
      `are refunded once, also where Stripe fails ${when}`,
      fullUnless(when === 'after it'),
      async () => {
        const { phone, token, customer } = await cheapBuyer(false);
        await advance(phone, 2 * week + 2 * hour);
        const { body } = await during(fault, () => withdraw(token));
        expect(body.statement).toMatchObject({ state: 'received' });
        for (let attempt = 0; attempt < 3; attempt += 1) {
          await run('update withdrawals set due_at = 0 where id = ?', body.statement.id);
          // Each attempt has other idempotency keys.
          const free = 'update customers set lease_until = 0, attempt = attempt + 1';
          await run(`${free} where stripe_id = ?`, customer);
          await runCron();
        }
        expect((await withdraw(token)).body.statement).toMatchObject({
          state: 'done',
          refund: 1271,
        });
        expect(await refundsOf(customer)).toEqual([72, 1199]);
        expect(await noteTotals(customer)).toEqual([36, 36, 1199]);
      },
    );

  it('are refunded once by two runs that overlap', async () => {
    const person = await cheapBuyer(false);
    await advance(person.phone, 2 * week + 2 * hour);
    await withdrawTwice(person, 'credit_note]');
    expect(await refundsOf(person.customer)).toEqual([72, 1199]);
    expect(await noteTotals(person.customer)).toEqual([36, 36, 1199]);
  });
});

/** The lease of the first run ends before its request with `mark` arrives at Stripe. */
async function withdrawTwice({ token, customer }: Subscriber, mark: string): Promise<void> {
  const { arrived, release } = holdRequests(mark);
  const first = withdraw(token);
  await arrived();
  await run('update customers set lease_until = 0 where stripe_id = ?', customer);
  const own = 'user_id = (select user_id from customers where stripe_id = ?)';
  await run(`update withdrawals set due_at = 0 where ${own}`, customer);
  const second = runCron();
  await arrived(2);
  release();
  await Promise.all([first, second]);
}

it('two runs that overlap make one credit note of a payment', async () => {
  const person = await buyer('basic', true);
  await advance(person.phone, 5 * day);
  await withdrawTwice(person, 'email_type');
  expect(await noteTotals(person.customer)).toHaveLength(1);
});

type Sold = { currency: string; amount: number };

/** A plan at a price of the owner's, in another currency, half of whose first week has passed. */
async function buyerIn({ currency, amount }: Sold, startNow: boolean): Promise<Subscriber> {
  const person = await newPerson();
  await orderPage(person.token, { tier: 'basic', startNow });
  const customer = await customerOf(person.phone);
  const { id: product } = await stripe.products.create({ name: `Basic in ${currency}` });
  const { id: price } = await stripe.prices.create({
    product,
    currency,
    unit_amount: amount,
    recurring: { interval: 'week' },
    metadata: { tier: 'basic' },
  });
  const { id: method } = await stripe.paymentMethods.attach('pm_card_visa', { customer });
  await stripe.subscriptions.create({
    customer,
    items: [{ price }],
    default_payment_method: method,
    metadata: { tier: 'basic', start_now_basic: startNow ? 'yes' : 'no' },
  });
  await deliver(customer);
  await advance(person.phone, 3.5 * day);
  return { ...person, customer };
}

describe('a currency', () => {
  it.each([
    ['without cents', { currency: 'jpy', amount: 1199 }, 600, '¥600'],
    ['without cents', { currency: 'krw', amount: 15_901 }, 7951, '₩7,951'],
    ['with thousandths', { currency: 'kwd', amount: 5130 }, 2570, 'KWD 2.570'],
    ['paid in whole units', { currency: 'isk', amount: 90_100 }, 45_100, 'ISK 451'],
  ])('%s comes back in what banks can pay: %j', async (_, sold, half, text) => {
    const { phone, token, customer } = await buyerIn(sold, true);
    const { currency, amount } = sold;
    expect(await paymentsOf(customer)).toEqual([amount]);
    expect(await contractOf(token)).toMatchObject({
      currency,
      paid: amount,
      refund: half,
    });
    const { body } = await withdraw(token);
    expect(body.statement).toMatchObject({ state: 'done', refund: half });
    expect(body.receipt.replaceAll('\u00a0', ' ')).toContain(`You get back: ${text}\n`);
    expect(await refundsOf(customer)).toEqual([half]);
    const told = (await deliveredEvents(phone)).find(({ type }) => type.endsWith('.refunded'));
    expect(told!.data).toMatchObject({ amount: half, currency });
    expect((await call('GET', path, { token })).body).toMatchObject({
      contract: null,
      statement: { state: 'done', refund: half },
    });
  });

  it('comes back whole where nobody asked to start at once', async () => {
    const { token, customer } = await buyerIn({ currency: 'jpy', amount: 1199 }, false);
    expect((await withdraw(token)).body.statement).toMatchObject({ refund: 1199 });
    expect(await refundsOf(customer)).toEqual([1199]);
  });
});
