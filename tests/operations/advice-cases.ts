import { Stripe } from 'stripe';
import { describe, expect, it, onTestFinished } from 'vitest';
import { phoneSubjects, type PhoneNumber } from '../../worker/identity/phone.ts';
import { advice, type AdviceName } from '../../worker/operations/support/advice.ts';
import { stripeOptions } from '../../worker/billing/stripe-client.ts';
import { settingsOf } from '../../worker/settings.ts';
import { until } from '../api/support/clock.ts';
import { runMinuteCron } from '../product/start-product.ts';
import { product, setFault, support, supportJson } from './support-runs.ts';
import { call, newNumber } from './test-product.ts';

const { database, reportContact, sandboxUrl, siteUrl } = product;
const { signIn, startTrial, vars, writeToAssistant } = product;
const stripe = new Stripe(vars.STRIPE_SECRET_KEY, stripeOptions(vars.STRIPE_API_BASE));

const control = (method: string, path: string, body: object) =>
  call(`${sandboxUrl}${path}`, method, body);

/** A price of a plan at the local Stripe. */
async function priceOf(tier: string): Promise<string> {
  const { data } = await stripe.prices.list({ active: true, limit: 100 });
  return data.find(({ lookup_key: key }) => key === `${tier}_weekly`)!.id;
}

async function orderPage(token: string, tier: string): Promise<string> {
  const path = `${siteUrl}/api/billing/create-subscription-update-session`;
  return (await call(path, 'POST', { tier }, token))['portalUrl'];
}

const pay = (page: string) =>
  fetch(page, {
    method: 'POST',
    body: new URLSearchParams(),
    redirect: 'manual',
  });

const customerOf = async (phone: string) =>
  (await call(`${sandboxUrl}/stripe/customers/${phone}`))['customer'].id as string;

/** Somebody who has bought a plan, and whose plan is known here. */
async function subscriber(phone: string): Promise<string> {
  const token = await signIn(phone);
  await pay(await orderPage(token, 'basic'));
  await control('POST', '/stripe/clock', { advanceSeconds: 0 });
  const plan = async () => (await supportJson('find', phone))['plan'].subscription;
  await until('the plan that was bought', plan, (tier) => tier === 'basic');
  return token;
}

/** Stripe's events about a purchase are lost, so that nobody here knows of it. */
async function buyUnseen(phone: string): Promise<void> {
  const token = await signIn(phone);
  const page = await orderPage(token, 'basic');
  await control('PUT', '/stripe/webhooks', { mode: 'hold' });
  onTestFinished(async () => void (await control('PUT', '/stripe/webhooks', { mode: 'deliver' })));
  await pay(page);
}

async function withoutStripe(phone: string, fault: { status: number }): Promise<void> {
  await subscriber(phone);
  await setFault('stripe', fault);
}

async function failToFetch(phone: string): Promise<void> {
  await subscriber(phone);
  const id = await customerOf(phone);
  await setFault('stripe', { status: 500 });
  await database.execute({
    sql: 'update customers set due_at = 0 where stripe_id = ?',
    args: [id],
  });
  await runMinuteCron(siteUrl);
  await setFault('stripe', null);
}

async function lastCharge(phone: string): Promise<string> {
  const { data } = await stripe.charges.list({ customer: await customerOf(phone) });
  return data[0]!.id;
}

async function doubled(phone: string): Promise<void> {
  await subscriber(phone);
  const customer = await customerOf(phone);
  const { data } = await stripe.subscriptions.list({ customer });
  const { default_payment_method: method } = data[0]!;
  const card = typeof method === 'string' ? method : method!.id;
  const items = [{ price: await priceOf('premium') }];
  await stripe.subscriptions.create({
    customer,
    items,
    default_payment_method: card,
  });
}

async function refusedAfterTrial(phone: string): Promise<void> {
  await writeToAssistant(phone);
  await startTrial(phone, { tier: 'premium', days: 3 });
  const token = await signIn(phone);
  const page = await orderPage(token, 'basic');
  const fault = {
    status: 400,
    path: '/v1/subscriptions',
    match: await customerOf(phone),
  };
  await control('PUT', '/faults', { stripe: fault });
  onTestFinished(() => setFault('stripe', null));
  const location = (await pay(page)).headers.get('location')!;
  const sessionId = new URL(location).searchParams.get('session_id')!;
  await call(
    `${siteUrl}/api/billing/verify-and-update-checkout-session`,
    'POST',
    { sessionId },
    token,
  );
  await setFault('stripe', null);
}

async function overdue(phone: string): Promise<void> {
  await subscriber(phone);
  await control('POST', `/stripe/customers/${phone}/card`, { declines: true });
  await control('POST', '/stripe/clock', {
    advanceSeconds: 8 * 86_400,
    phone,
  });
  const plan = async () => (await supportJson('find', phone))['plan'].subscriptionStatus;
  await until('the overdue payment', plan, (status) => status === 'past_due');
}

async function allCodesOfADay(phone: string): Promise<void> {
  await writeToAssistant(phone);
  const { everyCodeTo } = await phoneSubjects(settingsOf(vars)!, phone as PhoneNumber);
  const sql = 'insert into rate_limit_events (subject, at, by) values (?, ?, ?)';
  const codes = Array.from({ length: 30 }, (_, index) => [everyCodeTo[0]!, Date.now(), `${index}`]);
  await database.batch(codes.map((args) => ({ sql, args })));
}

async function parkedEvent(phone: string): Promise<void> {
  const token = await signIn(phone);
  await setFault('bot', { status: 422 });
  await call(`${siteUrl}/api/user/platform`, 'PUT', { platform: 'web' }, token);
  const events = async () => (await supportJson('find', phone))['eventsForTheBot'];
  await until('a parked event', events, (all: { parkedAt: unknown }[]) =>
    all.some(({ parkedAt }) => parkedAt),
  );
  await setFault('bot', null);
}

const withdraw = (token: string) => call(`${siteUrl}/api/billing/withdrawal`, 'POST', {}, token);

async function withdrawDisputed(phone: string): Promise<void> {
  const token = await subscriber(phone);
  await control('POST', `/stripe/customers/${phone}/dispute`, {});
  await withdraw(token);
}

async function withoutContact(phone: string): Promise<void> {
  const { token } = await control('POST', `/phones/${phone}/external-token`, {});
  await call(`${siteUrl}/api/auth/verify-external-token`, 'POST', { token });
}

/** The same id of WhatsApp comes with two numbers. */
async function twoNumbersOfOneId(phone: string): Promise<void> {
  const businessUserId = `US.${crypto.randomUUID().replaceAll('-', '')}`;
  await reportContact({ phone: newNumber(), businessUserId });
  await writeToAssistant(phone);
  await reportContact({ phone, businessUserId });
}

/** How each sentence comes about, on an account of its own. */
const ways: Record<AdviceName, (phone: string) => Promise<unknown>> = {
  async pending(phone) {
    await writeToAssistant(phone);
    await control('POST', `/phones/${phone}/status`, { status: 'pending' });
  },
  neverWrote: withoutContact,
  limited: signIn,
  limitedToday: allCodesOfADay,
  untied: buyUnseen,
  async customerUnknown(phone) {
    await subscriber(phone);
    await control('PUT', '/faults', { stripe: { unknownCustomer: true } });
    onTestFinished(() => setFault('stripe', null));
  },
  keyRefused: (phone) => withoutStripe(phone, { status: 401 }),
  stripeSilent: (phone) => withoutStripe(phone, { status: 500 }),
  outOfDate: failToFetch,
  async renamed(phone) {
    await subscriber(phone);
    await stripe.customers.update(await customerOf(phone), { phone: newNumber() });
  },
  overdue,
  async disputed(phone) {
    await subscriber(phone);
    await control('POST', `/stripe/customers/${phone}/dispute`, {});
  },
  disputedAndWithdrawn: withdrawDisputed,
  async withdrawalMayBeObjected(phone) {
    await subscriber(phone);
    const stated = {
      name: 'Ada Lovelace',
      contact: phone,
      plan: 'Basic',
    };
    await call(`${siteUrl}/api/withdrawals`, 'POST', stated);
  },
  async withdrawing(phone) {
    const token = await subscriber(phone);
    await setFault('stripe', { status: 500 });
    await withdraw(token);
    await setFault('stripe', null);
  },
  withdrawalLeft: withdrawDisputed,
  doubled,
  async refunded(phone) {
    await subscriber(phone);
    await stripe.refunds.create({ charge: await lastCharge(phone) });
  },
  planRefused: refusedAfterTrial,
  conflict: twoNumbersOfOneId,
  async spent(phone) {
    for (let message = 0; message < 6; message += 1) await writeToAssistant(phone);
  },
  parked: parkedEvent,
};

describe('`support find` advises, where', () => {
  it.each(Object.entries(ways))('%s: the event happens to a real account', async (name, happen) => {
    const phone = newNumber();
    const sentence = advice[name as AdviceName];
    const quiet = newNumber();
    await writeToAssistant(quiet);
    expect((await supportJson('find', quiet))['advice']).not.toContain(sentence);
    await happen(phone);
    expect((await supportJson('find', phone))['advice']).toContain(sentence);
  });
});

const adviceAbout = async (phone: string): Promise<string[]> =>
  (await supportJson('find', phone))['advice'];

describe('`support find` does not advise', () => {
  it('to cancel a subscription that was bought after another one was refunded', async () => {
    const phone = newNumber();
    const token = await subscriber(phone);
    await withdraw(token);
    const plan = async () => (await supportJson('find', phone))['plan'].subscription;
    await until('the end of the plan', plan, (tier) => tier === 'free');
    await subscriber(phone);
    const { returned } = (await supportJson('find', phone))['payments'];
    expect(returned).toMatchObject([{ refunded: 1199 }]);
    expect(await adviceAbout(phone)).not.toContain(advice.refunded);

    await stripe.refunds.create({ charge: await lastCharge(phone) });
    expect(await adviceAbout(phone)).toContain(advice.refunded);
  });

  it('to answer a dispute of a contract that was withdrawn, and shows its statement', async () => {
    const phone = newNumber();
    await withdrawDisputed(phone);
    expect(await adviceAbout(phone)).not.toContain(advice.disputed);
    const { stdout } = await support('find', phone);
    expect(stdout).toMatch(/^Withdrawals: +\d+ of .*, account, needs_owner \(/m);
  });

  it('to answer a dispute that is over', async () => {
    const phone = newNumber();
    await subscriber(phone);
    const dispute = await control('POST', `/stripe/customers/${phone}/dispute`, {});
    expect(await adviceAbout(phone)).toContain(advice.disputed);
    await stripe.disputes.close(dispute.id);
    const found = await supportJson('find', phone);
    expect(found['payments'].returned).toMatchObject([{ disputes: ['lost'] }]);
    expect(found['advice']).not.toContain(advice.disputed);
  });
});
