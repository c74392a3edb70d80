import { afterEach, describe, expect, it } from 'vitest';
import { unknownPricesInUse } from '../../worker/billing/subscriptions.ts';
import { plans } from '../../worker/contract/plans.ts';
import { setUpStripe } from '../../worker/operations/stripe-setup/stripe-setup.ts';
import { call } from './support/api.ts';
import { buy, complete, inPortal, newSubscriber, onTrial, profileOf, verify } from './support/buying.ts';
import { logLines } from './support/log.ts';
import { newPerson } from './support/person.ts';
import { deliveredEvents, sandbox } from './support/sandbox.ts';
import { deliver, changePrice, customerOf, newPrice, priceOf, stripe, subscriptionOf } from './support/stripe.ts';

const siteUrl = 'http://solace.test';
const { weeklyCents } = plans.basic;

afterEach(async () => {
  Object.assign(plans.basic, { weeklyCents, onSale: true });
  Object.assign(plans.premium, { onSale: true });
  await setUpStripe(stripe, siteUrl);
});

describe('an add-on', () => {
  it('leaves the plan as it is', async () => {
    const { token, customer, since } = await newSubscriber('basic');
    const { id } = await subscriptionOf(customer);
    await stripe.subscriptions.update(id, { items: [{ price: await newPrice(null) }] });
    await deliver(customer, since);
    expect((await subscriptionOf(customer)).items.data).toHaveLength(2);
    expect((await profileOf(token)).metadata).toMatchObject({
      subscriptionTier: 'basic',
      subscriptionStatus: 'active',
    });
    expect((await buy(token)).body.portalUrl).toContain('/portal/');
  });
});

describe('an unknown price', () => {
  it('keeps the plan, is logged, and shows to the owner', async () => {
    const { token, customer, since } = await newSubscriber('basic');
    const price = await newPrice(null);
    await changePrice(await subscriptionOf(customer), price);
    await deliver(customer, since);
    expect(logLines('price_unknown')).toContainEqual(expect.objectContaining({ customer, price }));
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('basic');
    const { id } = await subscriptionOf(customer);
    expect(await unknownPricesInUse(stripe)).toContainEqual({ price, subscription: id });
  });

  it('grants nothing to somebody who had no plan', async () => {
    const { now: since } = await sandbox.stripeClock();
    const { phone, token } = await newPerson();
    await buy(token, 'basic');
    const customer = await customerOf(phone);
    const method = await stripe.paymentMethods.attach('pm_card_visa', { customer });
    await stripe.subscriptions.create({
      customer,
      items: [{ price: await newPrice(null) }],
      default_payment_method: method.id,
    });
    await deliver(customer, since);
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('free');
  });
});

describe('a price whose amount has changed', () => {
  it('lets those who pay the old one change, cancel and pay, and setting up twice changes nothing', async () => {
    const { token, customer, since } = await newSubscriber('basic');
    const { items } = await subscriptionOf(customer);
    const held = items.data[0]!.price.id;
    Object.assign(plans.basic, { weeklyCents: 1299 });
    const { lines } = await setUpStripe(stripe, siteUrl);
    expect(lines).toContain('created price basic_weekly');
    expect(lines).toContain(`created portal configuration for ${held}`);
    const again = await setUpStripe(stripe, siteUrl);
    expect(again.lines.filter((line) => !line.startsWith('kept'))).toEqual([]);

    const portal = (await buy(token)).body.portalUrl;
    const page = await (await fetch(portal)).text();
    expect(page).toContain('Switch to Premium');
    expect((await inPortal(portal, 'switch', { price: await priceOf('premium') })).status).toBe(303);
    await deliver(customer, since);
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('premium');
    await inPortal((await buy(token)).body.portalUrl, 'cancel');
    await deliver(customer, since);
    expect((await profileOf(token)).metadata.subscriptionStatus).toBe('cancellation_scheduled');
  });
});

describe('a plan that is off sale', () => {
  const buyWith = (token: string, tier: string) =>
    call('POST', '/api/billing/create-subscription-update-session', { token, body: { tier }, settings: {} });

  it('cannot be bought; its price stays, and whoever has it keeps it and can change', async () => {
    const { phone, token, customer, since } = await newSubscriber('premium');
    const price = (await subscriptionOf(customer)).items.data[0]!.price.id;
    Object.assign(plans.premium, { onSale: false });
    const { lines } = await setUpStripe(stripe, siteUrl);
    expect(lines).toContain('kept product Premium, which is off sale');
    expect((await stripe.prices.retrieve(price)).active).toBe(true);
    const other = await newPerson();
    expect(await buyWith(other.token, 'premium')).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await sandbox.advanceStripe(phone, 7 * 86_400 + 7200);
    await deliver(customer, since);
    expect((await profileOf(token)).metadata).toMatchObject({
      subscriptionTier: 'premium',
      subscriptionStatus: 'active',
    });
    const page = await (await fetch((await buy(token)).body.portalUrl)).text();
    expect(page).toContain('Switch to Platinum');
    const basic = await newSubscriber('basic');
    const offers = await (await fetch((await buy(basic.token)).body.portalUrl)).text();
    expect(offers).not.toContain('Switch to Premium');
  });

  it('does not start after a trial for which it was chosen; the bot is told', async () => {
    const { phone, token } = await onTrial('basic');
    const session = await complete((await buy(token, 'premium')).body.portalUrl);
    Object.assign(plans.premium, { onSale: false });
    const result = await call('POST', '/api/billing/verify-and-update-checkout-session', {
      token,
      body: { sessionId: session },
      settings: {},
    });
    expect(result.status).toBe(200);
    expect((await profileOf(token)).metadata).toMatchObject({
      subscriptionTier: 'basic',
      subscriptionStatus: 'trialing',
      scheduledDowngradeTierId: null,
    });
    await verify(token, session);
    const told = (await deliveredEvents(phone)).filter(({ data }) => data.offSaleTier);
    expect(told.map(({ type, data }) => [type, data.tier, data.offSaleTier])).toEqual([
      ['plan.changed', 'basic', 'premium'],
    ]);
  });
});
