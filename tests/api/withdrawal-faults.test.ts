import { expect, it } from 'vitest';
import { creditedByLaw, owedByLaw } from '../faults/withdrawals/law.ts';
import { call, parallel, runCron } from './support/api.ts';
import {
  buyer,
  inPortal,
  orderPage,
  switchPlan,
  type Subscriber,
  withdraw,
} from './support/buying.ts';
import { deleteAccount, planOf } from './support/person.ts';
import { during, type Faults, run, sandbox } from './support/sandbox.ts';
import { advance, deliver, hour, week } from './support/stripe-events.ts';
import { priceOf, stripe, stripeCoupon, subscriptionOf } from './support/stripe.ts';
import { fullUnless } from '../long-tours.ts';

const day = 24 * hour;
const path = '/api/billing/withdrawal';

/** Numbers that look random and are the same in each run (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

async function owedTo(customer: string, asked: boolean, at: number): Promise<number> {
  const { data: invoices } = await stripe.invoices.list({
    customer,
    limit: 100,
  });
  return owedByLaw(invoices, asked, at);
}

/** What credit notes say, beside the refunds. */
async function notesOf(customer: string) {
  const { data: invoices } = await stripe.invoices.list({
    customer,
    limit: 100,
  });
  const { data: notes } = await stripe.creditNotes.list({
    customer,
    limit: 100,
  });
  const { data: charges } = await stripe.charges.list({
    customer,
    limit: 100,
  });
  const refunded = charges.reduce((sum, { amount_refunded: amount }) => sum + amount, 0);
  const noted = notes.reduce((sum, { total }) => sum + total, 0);
  return { invoices, notes, refunded, credited: noted - refunded };
}

/** What its owner may take off each later week of a subscription, at Stripe: sometimes all, or nearly all of it. */
async function takeOff(customer: string, random: (below: number) => number): Promise<void> {
  const percent = { percent_off: random(5) === 0 ? 100 : 1 + random(99) };
  const off = random(2)
    ? percent
    : {
        amount_off: 1 + random(1199),
        currency: 'usd',
      };
  await stripeCoupon(customer, off);
}

/** A purchase, perhaps a coupon and a dearer plan after it, and some days; who asked to begin at once. */
async function randomContract(random: (below: number) => number) {
  const startNow = random(2) === 1;
  const person = await buyer(random(2) ? 'basic' : 'premium', startNow);
  let asked = startNow;
  if (random(3) === 0) await takeOff(person.customer, random);
  if (random(3) === 0) {
    await advance(person.phone, hour + random(6 * day));
    asked = random(2) === 1;
    await orderPage(person.token, { tier: 'platinum', startNow: asked });
    await switchPlan(person.token, 'platinum');
    await deliver(person.customer);
  }
  await advance(person.phone, hour + random(12 * day));
  return { ...person, asked };
}

/** Only the end of a subscription has `invoice_now`, only the creation of a credit note `email_type`. */
const steps: [step: string, faults: Faults][] = [
  [
    'the statement, before',
    {
      libsql: {
        drop: true,
        match: 'withdrawal.received',
      },
    },
  ],
  [
    'the statement, after',
    {
      libsql: {
        cut: true,
        match: 'withdrawal.received',
      },
    },
  ],
  [
    'subscriptions, before',
    {
      stripe: {
        status: 500,
        match: 'invoice_now',
      },
    },
  ],
  [
    'subscriptions, after',
    {
      stripe: {
        cut: true,
        match: 'invoice_now',
      },
    },
  ],
  [
    'checkouts',
    {
      stripe: {
        status: 500,
        path: '/v1/checkout/sessions',
      },
    },
  ],
  ['invoices', { stripe: { drop: true, path: '/v1/invoices' } }],
  [
    'credit notes, before',
    {
      stripe: {
        status: 500,
        match: 'email_type',
      },
    },
  ],
  [
    'credit notes, remembered',
    {
      stripe: {
        status: 500,
        remember: true,
        match: 'email_type',
      },
    },
  ],
  [
    'credit notes, after',
    {
      stripe: {
        cut: true,
        match: 'email_type',
      },
    },
  ],
  [
    'the result, before',
    {
      libsql: {
        drop: true,
        match: 'withdrawal.refunded',
      },
    },
  ],
  [
    'the result, after',
    {
      libsql: {
        cut: true,
        match: 'withdrawal.refunded',
      },
    },
  ],
  ['Stripe', { stripe: { status: 503 } }],
  ['nothing', {}],
];

/** After the fault, the person tries again if nothing was kept, and the cron job does the rest. */
async function settled(token: string, customer: string) {
  for (let attempt = 0; attempt < 8; attempt += 1) {
    await run('update customers set lease_until = 0 where stripe_id = ?', customer);
    const own = 'user_id = (select user_id from customers where stripe_id = ?)';
    await run(`update withdrawals set due_at = 0 where state = 'received' and ${own}`, customer);
    const { rows } = await run(`select * from withdrawals where ${own}`, customer);
    if (rows.length === 0) await withdraw(token);
    else if (rows[0]!['state'] === 'done') return rows;
    else await runCron();
  }
  throw new Error('The withdrawal was not settled');
}

/** Returns what the person saw while Stripe or the database failed. */
async function expectOneRefund(seed: number, faults: Faults) {
  const random = randomFrom(seed);
  const { phone, token, customer, asked } = await randomContract(random);
  const { body } = await during(faults, () => withdraw(token));
  const rows = await settled(token, customer);
  expect(rows, `seed ${seed}`).toHaveLength(1);

  const [statement] = rows;
  const at = Number(statement!['billed_at']);
  const { invoices, notes, refunded, credited } = await notesOf(customer);
  const owed = owedByLaw(invoices, asked, at);
  expect(refunded, `seed ${seed}`).toBe(owed);
  expect(credited, `seed ${seed}`).toBe(creditedByLaw(invoices, asked, at));
  expect(new Set(notes.map(({ invoice }) => invoice)).size).toBe(notes.length);
  expect(statement).toMatchObject({ refund: owed, state: 'done' });

  await deliver(customer);
  expect((await subscriptionOf(customer)).status).toBe('canceled');
  const paid = async () =>
    (
      await stripe.invoices.list({
        customer,
        status: 'paid',
        limit: 100,
      })
    ).data.length;
  const before = await paid();
  await advance(phone, 2 * week);
  expect(await paid(), 'payments after the withdrawal').toBe(before);
  return body;
}

/** The others take long. */
const short = ['the statement, after', 'credit notes, after', 'the result, after'];
const isShort = ([step]: (typeof steps)[number]) => short.includes(step);

async function endsRight(step: string, faults: Faults): Promise<void> {
  const { statement } = await expectOneRefund(step.length * 7919, faults);
  expect(statement?.state === 'done', 'no fault').toBe(step === 'nothing');
}

it.each(steps.filter(isShort))('a fault at %s ends with one refund of the right amount', endsRight);

it.each(steps.filter((step) => !isShort(step)))(
  'a fault at %s ends with one refund, too',
  { tags: ['full'] },
  endsRight,
);

it(
  '200 random contracts with a fault at a random step are refunded once, to the cent',
  { tags: ['full'], timeout: 1_800_000 },
  async () => {
    for (let round = 0; round < 200; round += 1) {
      const [, faults] = steps[round % steps.length]!;
      await expectOneRefund(20_261_128 + round, faults);
    }
  },
);

/** What may happen while 20 callers withdraw. */
const races: [what: string, work: (person: Subscriber) => Promise<unknown>][] = [
  ['a renewal', ({ phone }) => sandbox.advanceStripe(phone, week)],
  ['a cancellation', ({ token }) => call('POST', '/api/billing/cancel', { token })],
  ['a deletion of the account', ({ token }) => deleteAccount(token)],
  ['events from Stripe', ({ customer }) => deliver(customer)],
  [
    'a public statement',
    ({ phone }) =>
      call('POST', '/api/withdrawals', {
        body: {
          name: 'Ada Lovelace',
          contact: phone,
        },
      }),
  ],
];

it.each(races.slice(0, 1))('20 callers and %s give every payment back once', givesBackOnce);

it.each(races.slice(1))(
  '20 callers and %s give every payment back once, too',
  { tags: ['full'] },
  givesBackOnce,
);

async function givesBackOnce(
  _: string,
  work: (person: Subscriber) => Promise<unknown>,
): Promise<void> {
  const person = await buyer('basic', false);
  const { token, customer } = person;
  const calls = parallel(20, () => withdraw(token));
  const [responses] = await Promise.all([calls, work(person).catch(() => null)]);
  const ids = new Set(responses.flatMap(({ body }) => body.statement?.id ?? []));
  expect(ids.size).toBeLessThanOrEqual(1);
  await runCron();

  const { data: invoices } = await stripe.invoices.list({
    customer,
    status: 'paid',
  });
  const paid = invoices.reduce((sum, { amount_paid: amount }) => sum + amount, 0);
  const { data: notes } = await stripe.creditNotes.list({ customer });
  if (ids.size === 1) expect(notes.reduce((sum, { total }) => sum + total, 0)).toBe(paid);
  expect(new Set(notes.map(({ invoice }) => invoice)).size).toBe(notes.length);
  expect((await subscriptionOf(customer)).status).toBe('canceled');
}

/** A smaller plan takes effect at the end of the week; then the dearer one can be chosen once more. */
async function downgradedThenChosenAgain({ phone, token }: Subscriber, asks: boolean) {
  await switchPlan(token, 'basic');
  await advance(phone, week + 2 * hour);
  await orderPage(token, { tier: 'premium', startNow: asks });
  return (await call('GET', path, { token })).body.contract;
}

it.each([
  [true, 'a share for the time'],
  [false, 'nothing'],
])(
  'who asked to start at once (%s) before a dearer plan owes %s, whatever is chosen later',
  async (asked) => {
    const person = await buyer('basic', !asked);
    await advance(person.phone, day);
    await orderPage(person.token, { tier: 'premium', startNow: asked });
    await switchPlan(person.token, 'premium');
    await deliver(person.customer);
    const contract = await downgradedThenChosenAgain(person, !asked);
    expect(contract).toMatchObject({ tier: 'premium', startNow: asked });
    await withdraw(person.token);
    const [statement] = await settled(person.token, person.customer);
    const owed = await owedTo(person.customer, asked, Number(statement!['billed_at']));
    expect(statement).toMatchObject({ refund: owed });
  },
);

for (const asked of [true, false])
  it(
    `a purchase stays what it was (started at once: ${asked}) when a smaller plan follows it`,
    fullUnless(asked),
    async () => {
      const person = await buyer('premium', asked);
      await advance(person.phone, day);
      const contract = await downgradedThenChosenAgain(person, !asked);
      expect(contract).toMatchObject({ tier: 'premium', startNow: asked });
    },
  );

it('a move to a dearer plan is a contract of its own, also from a week that a coupon has paid', async () => {
  const { phone, token, customer } = await buyer('basic', false);
  await stripeCoupon(customer, { percent_off: 100 });
  const { id } = await subscriptionOf(customer);
  await advance(phone, week + 2 * hour);
  await stripe.subscriptions.update(id, { discounts: '' });
  await orderPage(token, { tier: 'premium', startNow: true });
  await switchPlan(token, 'premium');
  await deliver(customer);
  const { contract } = (await call('GET', path, { token })).body;
  expect(contract).toMatchObject({
    tier: 'premium',
    startNow: true,
    paid: 2999,
  });
  expect(Date.parse(contract.withdrawableUntil) - Date.parse(contract.concludedAt)).toBeGreaterThan(
    14 * day * 1000,
  );
});

it(
  '20 callers and a move to a dearer plan give back what their contract was paid',
  { tags: ['full'] },
  async () => {
    const person = await buyer('basic', false);
    const { token, customer } = person;
    await advance(person.phone, day);
    const { portalUrl } = (await call('POST', '/api/billing/create-portal-session', { token }))
      .body;
    const price = await priceOf('premium');
    const [responses] = await Promise.all([
      parallel(20, () => withdraw(token)),
      inPortal(portalUrl, 'switch', { price }),
    ]);
    const ids = new Set(responses.flatMap(({ body }) => body.statement?.id ?? []));
    expect(ids.size).toBe(1);
    const [statement] = await settled(token, customer);

    const { data: invoices } = await stripe.invoices.list({
      customer,
      status: 'paid',
      limit: 100,
    });
    const concluded = Number(statement!['concluded_at']);
    const own = invoices.filter(({ created }) => created * 1000 >= concluded);
    const paid = own.reduce((sum, { amount_paid: amount }) => sum + amount, 0);
    const { data: notes } = await stripe.creditNotes.list({ customer });
    expect(notes.reduce((sum, { total }) => sum + total, 0)).toBe(paid);
    expect(new Set(notes.map(({ invoice }) => invoice))).toEqual(new Set(own.map(({ id }) => id)));
    expect(statement).toMatchObject({ state: 'done', refund: paid });
    expect((await subscriptionOf(customer)).status).toBe('canceled');
    expect(await planOf(token)).toEqual(['free', 'active']);
  },
);

it('a dispute and a withdrawal of the same payment never pay twice', async () => {
  const { phone, token, customer } = await buyer('basic', false);
  await Promise.all([sandbox.dispute(phone), parallel(4, () => withdraw(token))]);
  await deliver(customer);
  await runCron();
  const { data: notes } = await stripe.creditNotes.list({ customer });
  const { data: disputes } = await stripe.disputes.list({ limit: 100 });
  const { data: charges } = await stripe.charges.list({ customer });
  const own = disputes.filter(({ charge }) => charges.some(({ id }) => id === charge));
  expect(notes.length + own.length).toBe(1);
  expect(await planOf(token)).toEqual(['free', 'active']);
});
