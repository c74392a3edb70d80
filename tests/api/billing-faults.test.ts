import { describe, expect, it, vi } from 'vitest';
import { botCall, call, runCron } from './support/api.ts';
import { buy, complete, inPortal, newSubscriber, onTrial, profileOf, verify } from './support/buying.ts';
import { advanceClock, day } from './support/clock.ts';
import { database } from './support/database.ts';
import { logLines } from './support/log.ts';
import { newPerson, userOf } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';
import { deliver, eventsOf, postEvent, customerOf, priceOf, stripe, subscriptionOf } from './support/stripe.ts';
import { returnedPayments } from '../../worker/operations/support/user-description.ts';

const declined = '4000000000000002';
const planOf = async (token: string) => (await profileOf(token)).metadata;

/** The payments of a customer that succeeded. */
async function payments(customer: string): Promise<number[]> {
  const { data } = await stripe.charges.list({ customer, limit: 100 });
  return data.filter(({ status }) => status === 'succeeded').map(({ amount }) => amount);
}

/** The events about a dispute or charge, which do not contain our customer. */
async function eventsAbout(type: string, id: string): Promise<unknown[]> {
  const { data } = await stripe.events.list({ type, limit: 100 });
  return data.filter((event) => (event.data.object as { id: string }).id === id);
}

it('a first card that is declined grants nothing; the next one is charged once', async () => {
  const { phone, token } = await newPerson();
  const { portalUrl } = (await buy(token, 'basic')).body;
  await expect(complete(portalUrl, { card: declined })).rejects.toThrow('402');
  await runCron();
  const customer = await customerOf(phone);
  expect([await planOf(token), await payments(customer)]).toMatchObject([{ subscriptionTier: 'free' }, []]);
  await verify(token, await complete(portalUrl));
  expect((await planOf(token)).subscriptionTier).toBe('basic');
  expect(await payments(customer)).toHaveLength(1);
});

it('a checkout that is completed twice is charged once', async () => {
  const { phone, token } = await newPerson();
  const { portalUrl } = (await buy(token, 'premium')).body;
  const sessions = await Promise.allSettled([complete(portalUrl), complete(portalUrl)]);
  const done = sessions.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  for (const session of done) await verify(token, session);
  expect((await planOf(token)).subscriptionTier).toBe('premium');
  expect(await payments(await customerOf(phone))).toHaveLength(1);
});

it('an upgrade whose charge is declined in the portal changes nothing', async () => {
  const { phone, token, customer, since } = await newSubscriber('basic');
  await sandbox.card(phone, true);
  await inPortal((await buy(token)).body.portalUrl, 'switch', { price: await priceOf('platinum') });
  await deliver(customer, since);
  expect(await planOf(token)).toMatchObject({ subscriptionTier: 'basic', subscriptionStatus: 'active' });
  expect(await payments(customer)).toHaveLength(1);
});

it('a plan whose card fails at the end of the trial leaves the free plan and its weeks', async () => {
  const { phone, token } = await onTrial('premium', 1);
  const { now: since } = await sandbox.stripeClock();
  await verify(token, await complete((await buy(token, 'platinum')).body.portalUrl));
  const customer = await customerOf(phone);
  await sandbox.card(phone, true);
  await sandbox.advanceStripe(phone, 86_400 + 2 * 3600);
  await deliver(customer, since);
  expect((await subscriptionOf(customer)).status).toBe('past_due');
  expect(await planOf(token)).toMatchObject({ subscriptionTier: 'free', subscriptionStatus: 'past_due' });
  expect(await payments(customer)).toEqual([]);
  for (let week = 0; week < 3; week += 1) {
    advanceClock(7 * day);
    expect((await botCall('/api/bot/usage', { phone, count: 5 })).body).toMatchObject({ allowed: true, used: 5 });
    expect((await botCall('/api/bot/usage', { phone })).body).toMatchObject({ allowed: false, used: 5, limit: 5 });
  }
});

it('two live subscriptions grant the better plan, and the log asks for a refund', async () => {
  const { token, customer, since } = await newSubscriber('basic');
  const { default_payment_method: card } = await subscriptionOf(customer);
  await stripe.subscriptions.create({
    customer,
    items: [{ price: await priceOf('premium') }],
    default_payment_method: typeof card === 'string' ? card : card!.id,
  });
  await deliver(customer, since);
  expect((await planOf(token)).subscriptionTier).toBe('premium');
  expect(logLines('subscription_doubled')).toContainEqual(expect.objectContaining({ customer }));
});

it('events that arrive after the account was deleted bring nothing back', async () => {
  const { phone, token, customer, since } = await newSubscriber('premium');
  const late = await eventsOf(customer, since);
  expect((await call('DELETE', '/api/user/me', { token })).status).toBe(200);
  for (const event of late) expect(await postEvent(event)).toEqual({ status: 200, body: { received: true } });
  const sql = 'select 1 from users where phone = ? union all select 1 from customers where stripe_id = ?';
  expect((await database.execute({ sql, args: [phone, customer] })).rows).toEqual([]);
  expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
});

it('a purchase while Stripe fails is refused, and the next try is charged once', async () => {
  const { phone, token } = await newPerson();
  await sandbox.faults({ stripe: { status: 500, match: userOf(token) } });
  expect(await buy(token, 'basic')).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  await sandbox.faults({ stripe: null });
  await verify(token, await complete((await buy(token, 'basic')).body.portalUrl));
  expect((await planOf(token)).subscriptionTier).toBe('basic');
  expect(await payments(await customerOf(phone))).toHaveLength(1);
});

it('a return from a paid checkout while Stripe fails loses nothing: the cron brings the plan', async () => {
  const { phone, token } = await newPerson();
  const session = await complete((await buy(token, 'basic')).body.portalUrl);
  await sandbox.faults({ stripe: { status: 500, match: session } });
  expect((await verify(token, session)).status).toBe(503);
  await sandbox.faults({ stripe: null });
  await runCron();
  expect((await planOf(token)).subscriptionTier).toBe('basic');
  expect(await payments(await customerOf(phone))).toHaveLength(1);
});

it('a refund of the whole payment ends nothing by itself, and a cancellation at Stripe does', async () => {
  const { token, customer, since } = await newSubscriber('basic');
  const [charge] = (await stripe.charges.list({ customer })).data;
  await stripe.refunds.create({ charge: charge!.id });
  await deliver(customer, since);
  expect((await planOf(token)).subscriptionTier).toBe('basic');
  await stripe.subscriptions.cancel((await subscriptionOf(customer)).id);
  await deliver(customer, since);
  expect((await planOf(token)).subscriptionTier).toBe('free');
});

describe('a disputed payment', () => {
  it('ends the subscription at once, by its event', async () => {
    const { phone, token, customer } = await newSubscriber('premium');
    const { id } = await sandbox.dispute(phone);
    for (const event of await eventsAbout('charge.dispute.created', id)) {
      expect(await postEvent(event)).toMatchObject({ status: 200 });
    }
    expect((await subscriptionOf(customer)).status).toBe('canceled');
    expect(await planOf(token)).toMatchObject({ subscriptionTier: 'free', subscriptionStatus: 'active' });
    expect(logLines('payment_disputed')).toContainEqual(expect.objectContaining({ customer, dispute: id }));
  });

  it('ends the subscription within the hour when its event is lost', async () => {
    const { phone, token } = await newSubscriber('premium');
    const { id } = await sandbox.dispute(phone);
    await runCron('0 * * * *');
    expect((await planOf(token)).subscriptionTier).toBe('free');
    expect(logLines('payment_disputed')).toContainEqual(expect.objectContaining({ dispute: id }));
  });

  it('is sent again by Stripe while Stripe does not respond', async () => {
    const { phone, token } = await newSubscriber('basic');
    const { id } = await sandbox.dispute(phone);
    const [event] = await eventsAbout('charge.dispute.created', id);
    await sandbox.faults({ stripe: { status: 500, match: id } });
    expect((await postEvent(event)).status).toBe(503);
    await sandbox.faults({ stripe: null });
    expect((await postEvent(event)).status).toBe(200);
    expect((await planOf(token)).subscriptionTier).toBe('free');
  });

  it('keeps the subscription with ON_DISPUTE=keep', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    const { id } = await sandbox.dispute(phone);
    const [event] = await eventsAbout('charge.dispute.created', id);
    await postEvent(event, { settings: { ON_DISPUTE: 'keep' } });
    expect((await subscriptionOf(customer)).status).toBe('active');
    expect((await planOf(token)).subscriptionTier).toBe('basic');
    expect(logLines('payment_disputed')).toContainEqual(expect.objectContaining({ customer, dispute: id }));
    await postEvent(event);
  });

  it('does not end a subscription that was bought after it, however often its event comes', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    const { id } = await sandbox.dispute(phone);
    const [event] = await eventsAbout('charge.dispute.created', id);
    await postEvent(event);
    await sandbox.advanceStripe(phone, 5);
    await verify(token, await complete((await buy(token, 'premium')).body.portalUrl));
    await postEvent(event);
    await runCron('0 * * * *');
    expect((await planOf(token)).subscriptionTier).toBe('premium');
    expect((await stripe.subscriptions.list({ customer })).data).toHaveLength(1);
  });

  it('ends only the subscription that it paid for, and is logged once', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    const [first] = (await stripe.charges.list({ customer })).data;
    await stripe.subscriptions.cancel((await subscriptionOf(customer)).id);
    await sandbox.advanceStripe(phone, 30 * 86_400);
    await runCron();
    await verify(token, await complete((await buy(token, 'premium')).body.portalUrl));
    await sandbox.advanceStripe(phone, 5 * 86_400);
    const { id } = await sandbox.dispute(phone, first!.id);
    const [event] = await eventsAbout('charge.dispute.created', id);
    for (const type of ['charge.dispute.created', 'charge.dispute.funds_withdrawn', 'charge.dispute.updated']) {
      expect((await postEvent({ ...(event as object), id: `evt_${id}${type}`, type })).status).toBe(200);
      await runCron('0 * * * *');
    }
    expect((await subscriptionOf(customer)).status).toBe('active');
    expect((await planOf(token)).subscriptionTier).toBe('premium');
    expect(logLines('payment_disputed').filter(({ dispute }) => dispute === id)).toHaveLength(1);
  });

  it('of somebody who is not ours is ignored', async () => {
    const stranger = await stripe.customers.create({ payment_method: 'pm_card_visa' });
    const card = (await stripe.paymentMethods.list({ customer: stranger.id })).data[0]!.id;
    const order = { customer: stranger.id, items: [{ price: await priceOf('basic') }], default_payment_method: card };
    const { id } = await stripe.subscriptions.create(order);
    const [charge] = (await stripe.charges.list({ customer: stranger.id })).data;
    const object = { id: 'dp_unknown', object: 'dispute', charge: charge!.id };
    const event = {
      id: 'evt_stranger',
      object: 'event',
      type: 'charge.dispute.created',
      livemode: false,
      data: { object },
    };
    expect((await postEvent(event)).status).toBe(200);
    expect((await stripe.subscriptions.retrieve(id)).status).toBe('active');
  });
});

describe('a dispute that takes no money back', () => {
  it.each(['warning_needs_response', 'won'])('%s leaves the subscription alone', async (status) => {
    const { phone, token, customer } = await newSubscriber('basic');
    const { id } = await sandbox.dispute(phone);
    const real = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const response = await real(input, init);
      const url = input instanceof Request ? input.url : String(input);
      if (!url.includes(`/v1/disputes/${id}`)) return response;
      return Response.json({ ...(await response.json<object>()), status });
    });
    const [event] = await eventsAbout('charge.dispute.created', id);
    expect((await postEvent(event)).status).toBe(200);
    expect((await subscriptionOf(customer)).status).toBe('active');
    expect((await planOf(token)).subscriptionTier).toBe('basic');
  });
});

describe('returned payments', () => {
  it('are logged, and listed for the owner', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    const [charge] = (await stripe.charges.list({ customer })).data;
    await stripe.refunds.create({ charge: charge!.id, amount: 500 });
    const [event] = await eventsAbout('charge.refunded', charge!.id);
    await postEvent(event);
    expect(logLines('payment_refunded')).toContainEqual(
      expect.objectContaining({ customer, charge: charge!.id, refunded: 500 }),
    );
    expect((await planOf(token)).subscriptionTier).toBe('basic');
    await sandbox.dispute(phone);
    expect(await returnedPayments(stripe, customer)).toEqual([
      expect.objectContaining({ charge: charge!.id, refunded: 500, disputes: [expect.any(String)] }),
    ]);
  });
});
