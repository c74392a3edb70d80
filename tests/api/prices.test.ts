import { afterEach, describe, expect, it } from 'vitest';
import { unknownPricesInUse } from '../../worker/billing/subscriptions.ts';
import { plans } from '../../worker/contract/plans.ts';
import { setUpStripe } from '../../worker/operations/stripe-setup/stripe-setup.ts';
import { call } from './support/api.ts';
import { buy, checkOut, inPortal, newSubscriber, onTrial, switchPlan, verify } from './support/buying.ts';
import { logLines } from './support/requests.ts';
import { metadataOf, newPerson, planOf } from './support/person.ts';
import { deliveredEvents } from './support/sandbox.ts';
import { advance, changePrice, deliver, hour, stripe, subscriptionOf, week } from './support/stripe.ts';

const siteUrl = 'http://solace.test';
const { weeklyCents } = plans.basic;

afterEach(async () => {
  Object.assign(plans.basic, { weeklyCents });
  Object.assign(plans.premium, { onSale: true });
  await setUpStripe(stripe, siteUrl);
});

/** Creates a price of no plan. */
async function newPrice(): Promise<string> {
  const { id: product } = await stripe.products.create({ name: 'Another' });
  const price = { product, currency: 'usd', unit_amount: 500, recurring: { interval: 'week' } } as const;
  return (await stripe.prices.create(price)).id;
}

const portalPage = async (token: string) => (await fetch((await buy(token)).body.portalUrl)).text();

it('an add-on leaves the plan as it is', async () => {
  const { token, customer } = await newSubscriber('basic');
  const { id } = await subscriptionOf(customer);
  await stripe.subscriptions.update(id, { items: [{ price: await newPrice() }] });
  await deliver(customer);
  expect((await subscriptionOf(customer)).items.data).toHaveLength(2);
  expect(await planOf(token)).toEqual(['basic', 'active']);
  expect((await buy(token)).body.portalUrl).toContain('/portal/');
});

it('an unknown price keeps the plan, is logged, and shows to the owner', async () => {
  const { token, customer } = await newSubscriber('basic');
  const price = await newPrice();
  await changePrice(customer, price);
  await deliver(customer);
  expect(logLines('price_unknown')).toContainEqual(expect.objectContaining({ customer, price }));
  expect(await planOf(token)).toEqual(['basic', 'active']);
  const { id } = await subscriptionOf(customer);
  expect(await unknownPricesInUse(stripe)).toContainEqual({ price, subscription: id });
});

it('a price whose amount has changed lets those who pay the old one change and cancel', async () => {
  const { token, customer } = await newSubscriber('basic');
  const held = (await subscriptionOf(customer)).items.data[0]!.price.id;
  Object.assign(plans.basic, { weeklyCents: 1299 });
  const { lines } = await setUpStripe(stripe, siteUrl);
  expect(lines).toContain('created price basic_weekly');
  expect(lines).toContain(`created portal configuration for ${held}`);
  const again = await setUpStripe(stripe, siteUrl);
  expect(again.lines.filter((line) => !line.startsWith('kept'))).toEqual([]);

  expect(await portalPage(token)).toContain('Switch to Premium');
  expect((await switchPlan(token, 'premium')).status).toBe(303);
  await deliver(customer);
  expect(await planOf(token)).toEqual(['premium', 'active']);
  await inPortal((await buy(token)).body.portalUrl, 'cancel');
  await deliver(customer);
  expect(await planOf(token)).toEqual(['premium', 'cancellation_scheduled']);
});

/** By a call with settings of its own, whose Worker reads the catalogue that a test has changed. */
const callAnew = (path: string, token: string, body: object) =>
  call('POST', `/api/billing/${path}`, { token, body, settings: {} });

describe('a plan that is off sale', () => {
  it('cannot be bought; its price stays, and whoever has it keeps it and can change', async () => {
    const person = await newSubscriber('premium');
    const price = (await subscriptionOf(person.customer)).items.data[0]!.price.id;
    Object.assign(plans.premium, { onSale: false });
    const { lines } = await setUpStripe(stripe, siteUrl);
    expect(lines).toContain('kept product Premium, which is off sale');
    expect((await stripe.prices.retrieve(price)).active).toBe(true);
    const other = await newPerson();
    const refused = await callAnew('create-subscription-update-session', other.token, { tier: 'premium' });
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await advance(person.phone, week + 2 * hour);
    expect(await planOf(person.token)).toEqual(['premium', 'active']);
    expect(await portalPage(person.token)).toContain('Switch to Platinum');
    expect(await portalPage((await newSubscriber('basic')).token)).not.toContain('Switch to Premium');
  });

  it('does not start after a trial for which it was chosen; the bot is told', async () => {
    const { phone, token } = await onTrial('basic');
    const sessionId = await checkOut(token, 'premium');
    Object.assign(plans.premium, { onSale: false });
    const result = await callAnew('verify-and-update-checkout-session', token, { sessionId });
    expect(result.status).toBe(200);
    expect(await planOf(token)).toEqual(['basic', 'trialing']);
    expect((await metadataOf(token)).scheduledDowngradeTierId).toBeNull();
    await verify(token, sessionId);
    const told = (await deliveredEvents(phone)).filter(({ data }) => data.offSaleTier);
    expect(told.map(({ type, data }) => [type, data.tier, data.offSaleTier])).toEqual([
      ['plan.changed', 'basic', 'premium'],
    ]);
  });
});
