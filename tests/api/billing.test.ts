import { describe, expect, it, onTestFinished } from 'vitest';
import { botCall, call, parallel } from './support/api.ts';
import { buy, checkOut, complete, newSubscriber, onTrial, verify } from './support/buying.ts';
import { post } from './support/contacts.ts';
import { deleteAccount, metadataOf, newPerson, profileOf } from './support/person.ts';
import { costOf, startHeld } from './support/requests.ts';
import { run, sandbox } from './support/sandbox.ts';
import { fetchByCron } from './support/stripe-events.ts';
import { customerOf, stripe, subscriptionOf } from './support/stripe.ts';

const portal = (token: string) => call('POST', '/api/billing/create-portal-session', { token });
const openCheckouts = async (customer: string) =>
  (
    await stripe.checkout.sessions.list({
      customer,
      status: 'open',
    })
  ).data;

it('a user who picks no plan sees our own plans page, and may leave, while Stripe does not respond', async () => {
  const { token } = await newPerson();
  const order = {
    token,
    settings: { STRIPE_API_BASE: 'http://127.0.0.1:9' },
  };
  const { body } = await call('POST', '/api/billing/create-subscription-update-session', order);
  expect(body).toEqual({
    success: true,
    portalUrl: 'http://solace.test/plans',
  });
  expect(await buy(token, 'diamond')).toMatchObject({
    status: 400,
    body: { code: 'invalid_field' },
  });
  expect((await call('DELETE', '/api/user/me', order)).status).toBe(200);
});

describe('buying a plan', () => {
  it.each([
    ['basic', 30],
    ['premium', 70],
    ['platinum', 160],
  ] as const)('opens a checkout for %s, and the return brings it', async (tier, limit) => {
    const { phone, token } = await newPerson();
    await botCall('/api/bot/usage', { phone });
    const session = await checkOut(token, tier);
    const result = await verify(token, session);
    expect(costOf(result)).toBeLessThanOrEqual(3);
    expect(result).toMatchObject({
      status: 200,
      body: { success: true, tierUpdated: true, newTier: tier },
    });
    expect((await verify(token, session)).body).toMatchObject({
      success: true,
      newTier: tier,
    });
    const { metadata, ...profile } = await profileOf(token);
    expect(profile).toMatchObject({
      messagesUsedThisPeriod: 0,
      isTrial: false,
    });
    expect(metadata).toMatchObject({
      subscriptionTier: tier,
      subscriptionStatus: 'active',
      cancelAtDate: null,
    });
    const usage = await botCall('/api/bot/usage', {
      phone,
      kind: 'voice',
    });
    const resetsAt = metadata.renewalDate;
    expect(metadata.resetsAt).toBe(resetsAt);
    expect(usage.body).toMatchObject({
      allowed: true,
      used: 1,
      limit,
      tier,
      voice: true,
      resetsAt,
    });
  });

  it('begins a paid week with nothing used, also in the millisecond in which the free one began', async () => {
    const { phone, token } = await newPerson();
    await post(phone, 3);
    const session = await checkOut(token, 'basic');
    const { items } = await subscriptionOf(await customerOf(phone));
    const began = 1000 * items.data[0]!.current_period_start;
    await run(
      'update users set week_anchor = ?, week_start = ? where phone = ?',
      began,
      began,
      phone,
    );
    expect(await profileOf(token)).toMatchObject({ messagesUsedThisPeriod: 3 });
    expect((await verify(token, session)).body).toMatchObject({ newTier: 'basic' });
    expect(await profileOf(token)).toMatchObject({ messagesUsedThisPeriod: 0 });
    expect((await post(phone)).body).toMatchObject({ used: 1 });
  });

  it('makes one customer and one open checkout, with methods that confirm at once, for nineteen parallel callers', async () => {
    const { phone, token } = await newPerson();
    const answers = await parallel(19, () => buy(token, 'basic'));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const customer = await customerOf(phone);
    const checkouts = await openCheckouts(customer);
    expect(checkouts.map((checkout) => checkout.payment_method_types.toSorted())).toEqual([
      ['card', 'link'],
    ]);
    await buy(token, 'premium');
    expect((await openCheckouts(customer)).map(({ metadata }) => metadata?.tier)).toEqual([
      'premium',
    ]);
  });

  it.each(['listed', 'closed'])(
    'leads to the portal when an earlier checkout is paid while it is %s',
    async (work) => {
      const { phone, token } = await newPerson();
      const earlier = (await buy(token, 'basic')).body.portalUrl;
      const customer = await customerOf(phone);
      const marks = work === 'listed' ? ['GET', '/v1/checkout/sessions', customer] : ['/expire'];
      const second = await startHeld(() => buy(token, 'premium'), ...marks);
      await complete(earlier);
      expect((await second.finish()).body.portalUrl).toContain('/portal/');
      expect(await openCheckouts(customer)).toEqual([]);
    },
  );

  it('keeps the card that was saved for the plan after a trial while another plan is chosen', async () => {
    const { phone, token } = await onTrial('premium');
    const earlier = (await buy(token, 'basic')).body.portalUrl;
    const customer = await customerOf(phone);
    const marks = ['GET', '/v1/checkout/sessions', 'status=open', customer];
    const second = await startHeld(() => buy(token, 'platinum'), ...marks);
    await complete(earlier);
    expect((await second.finish()).body.portalUrl).toContain('/portal/');
    expect(await openCheckouts(customer)).toEqual([]);
    await fetchByCron(customer);
    expect(await metadataOf(token)).toMatchObject({ scheduledDowngradeTierId: 'basic' });
  });

  it('calculates tax with AUTOMATIC_TAX=on, from the address that Checkout asks for', async () => {
    const { phone, token } = await newPerson();
    const order = {
      token,
      body: { tier: 'basic' },
      settings: { AUTOMATIC_TAX: 'on' },
    };
    const orderTaxed = async () =>
      (await call('POST', '/api/billing/create-subscription-update-session', order)).body.code;
    onTestFinished(async () => {
      await sandbox.stripeDashboard({ taxOrigin: null, taxBehavior: null });
    });
    expect(await orderTaxed()).toBe('payment_refused');
    await sandbox.stripeDashboard({ taxOrigin: 'US' });
    expect(await orderTaxed()).toBe('payment_refused');
    await sandbox.stripeDashboard({ taxBehavior: 'exclusive' });
    expect(await orderTaxed()).toBeUndefined();
    const [checkout] = await openCheckouts(await customerOf(phone));
    expect(checkout!.automatic_tax.enabled).toBe(true);
  });
});

it('the portal is for people who have paid once, who are led there by a purchase too', async () => {
  const { token } = await newPerson();
  const body = {
    success: false,
    code: 'no_billing_account',
    message: 'No billing account yet. Choose a plan first.',
  };
  expect(await portal(token)).toMatchObject({ status: 409, body });
  await buy(token, 'basic');
  expect(await portal(token)).toMatchObject({ status: 409, body });
  const subscriber = await newSubscriber('basic');
  const portalUrl = expect.stringContaining('/portal/');
  expect((await portal(subscriber.token)).body).toEqual({
    success: true,
    portalUrl,
  });
  expect((await buy(subscriber.token, 'premium')).body.portalUrl).toEqual(portalUrl);
  expect(await openCheckouts(subscriber.customer)).toEqual([]);
});

it("somebody else's checkout does not exist, and one's own is no success while it is open", async () => {
  const [anna, ben] = [await newPerson(), await newPerson()];
  const session = await checkOut(anna.token, 'premium');
  const notFound = {
    status: 404,
    body: {
      success: false,
      code: 'not_found',
      message: 'Not found',
    },
  };
  expect(await verify(ben.token, session)).toMatchObject(notFound);
  const { portalUrl } = (await buy(ben.token, 'basic')).body;
  expect(await verify(ben.token, session)).toMatchObject(notFound);
  for (const id of ['cs_test_unknown', 'sub_1', '../customers', 'cs_test_1?expand=x'])
    expect(await verify(anna.token, id), id).toMatchObject(notFound);
  const open = new URL(portalUrl).pathname.split('/').at(-1)!;
  expect((await verify(ben.token, open)).body).toEqual({
    success: false,
    tierUpdated: false,
    newTier: 'free',
  });
  expect((await verify(anna.token, session)).body).toMatchObject({
    tierUpdated: true,
    newTier: 'premium',
  });
});

it('a deletion closes an open checkout, so that it cannot be paid any more', async () => {
  const { token } = await newPerson();
  const { portalUrl } = (await buy(token, 'basic')).body;
  await deleteAccount(token);
  expect((await fetch(portalUrl, { method: 'POST' })).status).toBe(410);
});
