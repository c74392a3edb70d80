import { beforeEach, describe, expect, it, vi } from 'vitest';
import { returnedPayments } from '../../worker/operations/support/describe-payments.ts';
import { vars } from './support/api.ts';
import { buy, complete, newSubscriber, profileOf, verify } from './support/buying.ts';
import { runCron } from './support/cron.ts';
import { sandbox } from './support/sandbox.ts';
import { postEvent } from './support/stripe-events.ts';
import { stripe, subscriptionOf } from './support/stripe.ts';

let lines: Record<string, unknown>[];
beforeEach(() => {
  lines = [];
  for (const level of ['log', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((line: unknown) => void lines.push(JSON.parse(String(line))));
  }
});
const logged = (event: string) => lines.filter((line) => line.event === event);

/** The events about a dispute or charge, which do not contain our customer. */
async function eventsAbout(type: string, id: string): Promise<unknown[]> {
  const { data } = await stripe.events.list({ type, limit: 100 });
  return data.filter((event) => (event.data.object as { id: string }).id === id);
}

describe('a disputed payment', () => {
  it('ends the subscription at once, by its event', async () => {
    const { phone, token, customer } = await newSubscriber('premium');
    const { id } = await sandbox.dispute(phone);
    for (const event of await eventsAbout('charge.dispute.created', id)) {
      expect(await postEvent(event)).toMatchObject({ status: 200 });
    }
    expect((await subscriptionOf(customer)).status).toBe('canceled');
    expect((await profileOf(token)).metadata).toMatchObject({ subscriptionTier: 'free', subscriptionStatus: 'active' });
    expect(logged('payment_disputed')).toContainEqual(expect.objectContaining({ customer, dispute: id }));
  });

  it('ends the subscription within the hour when its event is lost', async () => {
    const { phone, token } = await newSubscriber('premium');
    const { id } = await sandbox.dispute(phone);
    await runCron('0 * * * *');
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('free');
    expect(logged('payment_disputed')).toContainEqual(expect.objectContaining({ dispute: id }));
  });

  it('is sent again by Stripe while Stripe does not respond', async () => {
    const { phone, token } = await newSubscriber('basic');
    const { id } = await sandbox.dispute(phone);
    const [event] = await eventsAbout('charge.dispute.created', id);
    await sandbox.faults({ stripe: { status: 500 } });
    expect((await postEvent(event)).status).toBe(503);
    await sandbox.faults({ stripe: null });
    expect((await postEvent(event)).status).toBe(200);
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('free');
  });

  it('keeps the subscription with ON_DISPUTE=keep', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    const { id } = await sandbox.dispute(phone);
    const [event] = await eventsAbout('charge.dispute.created', id);
    await postEvent(event, { settings: { ON_DISPUTE: 'keep' } });
    expect((await subscriptionOf(customer)).status).toBe('active');
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('basic');
    expect(logged('payment_disputed')).toContainEqual(expect.objectContaining({ customer, dispute: id }));
    await postEvent(event);
  });

  it('does not end a subscription that was bought after it, however often its event comes', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    const { id } = await sandbox.dispute(phone);
    const [event] = await eventsAbout('charge.dispute.created', id);
    await postEvent(event);
    await sandbox.advanceStripe(5);
    await verify(token, await complete((await buy(token, 'premium')).body.portalUrl));
    await postEvent(event);
    await runCron('0 * * * *');
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('premium');
    expect((await stripe.subscriptions.list({ customer })).data).toHaveLength(1);
  });

  it('of somebody who is not ours is ignored', async () => {
    const stranger = await stripe.customers.create({ payment_method: 'pm_card_visa' });
    const price = (await stripe.prices.list({ lookup_keys: ['basic_weekly'] })).data[0]!.id;
    const card = (await stripe.paymentMethods.list({ customer: stranger.id })).data[0]!.id;
    const order = { customer: stranger.id, items: [{ price }], default_payment_method: card };
    const { id } = await stripe.subscriptions.create(order);
    const [charge] = (await stripe.charges.list({ customer: stranger.id })).data;
    const dispute = { id: 'dp_unknown', object: 'dispute', charge: charge!.id };
    const event = {
      id: 'evt_stranger',
      object: 'event',
      type: 'charge.dispute.created',
      livemode: false,
      data: { object: dispute },
    };
    expect((await postEvent(event)).status).toBe(200);
    expect((await stripe.subscriptions.retrieve(id)).status).toBe('active');
  });
});

describe('returned payments', () => {
  it('are logged, and listed for the owner', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    const [charge] = (await stripe.charges.list({ customer })).data;
    await stripe.refunds.create({ charge: charge!.id, amount: 500 });
    const [event] = await eventsAbout('charge.refunded', charge!.id);
    await postEvent(event);
    expect(logged('payment_refunded')).toContainEqual(
      expect.objectContaining({ customer, charge: charge!.id, refunded: 500 }),
    );
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('basic');
    await sandbox.dispute(phone);
    expect(await returnedPayments(stripe, customer)).toEqual([
      expect.objectContaining({ charge: charge!.id, refunded: 500, disputes: [expect.any(String)] }),
    ]);
    expect(vars.STRIPE_SECRET_KEY).toBeDefined();
  });
});
