import { describe, expect, it } from 'vitest';
import { botCall, call, parallel, runCron } from './support/api.ts';
import { buy, complete, inPortal, newSubscriber, onTrial, profileOf, startTrial, verify } from './support/buying.ts';
import { advanceClock, day } from './support/clock.ts';
import { database } from './support/database.ts';
import { newPerson } from './support/person.ts';
import { costOf } from './support/log.ts';
import { sandbox } from './support/sandbox.ts';
import { deliver, customerOf, makeDue, priceOf, stripe, subscriptionOf } from './support/stripe.ts';

/** A call that needs Stripe is 503 with these settings. */
const withoutStripe = { STRIPE_API_BASE: 'http://127.0.0.1:9' };
const portal = (token: string) => call('POST', '/api/billing/create-portal-session', { token });

describe('buying a plan', () => {
  it('returns our own plans page without a plan, and makes no request to Stripe', async () => {
    const { token } = await newPerson();
    const order = { token, settings: withoutStripe };
    expect((await call('POST', '/api/billing/create-subscription-update-session', order)).body).toEqual({
      success: true,
      portalUrl: 'http://solace.test/plans',
    });
    expect(await buy(token, 'diamond')).toMatchObject({ status: 400, body: { code: 'invalid_field' } });
  });

  it.each([
    ['basic', 30],
    ['premium', 70],
    ['platinum', 160],
  ] as const)('opens a checkout for %s, and the return brings it', async (tier, limit) => {
    const { phone, token } = await newPerson();
    await botCall('/api/bot/usage', { phone });
    const session = await complete((await buy(token, tier)).body.portalUrl);
    const result = await verify(token, session);
    expect(costOf(result)).toBeLessThanOrEqual(3);
    expect(result).toMatchObject({ status: 200, body: { success: true, tierUpdated: true, newTier: tier } });
    const profile = await profileOf(token);
    expect(profile).toMatchObject({
      messagesUsedThisPeriod: 0,
      isTrial: false,
      metadata: { subscriptionTier: tier, subscriptionStatus: 'active', cancelAtDate: null },
    });
    expect(Date.parse(profile.metadata.renewalDate)).toBeGreaterThan(Date.now());
    const usage = await botCall('/api/bot/usage', { phone, kind: 'voice' });
    expect(usage.body).toMatchObject({ allowed: true, used: 1, limit, tier, voice: true });
    expect(usage.body.resetsAt).toBe(profile.metadata.renewalDate);
  });

  it('makes one customer and one open checkout for twenty parallel callers', async () => {
    const { phone, token } = await newPerson();
    const answers = await parallel(20, () => buy(token, 'basic'));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const customer = await customerOf(phone);
    const { data } = await stripe.checkout.sessions.list({ customer, status: 'open' });
    expect(data).toHaveLength(1);
    await buy(token, 'premium');
    const open = await stripe.checkout.sessions.list({ customer, status: 'open' });
    expect(open.data.map(({ metadata }) => metadata?.tier)).toEqual(['premium']);
  });

  it('offers only payment methods that confirm at once', async () => {
    const { phone, token } = await newPerson();
    await buy(token, 'basic');
    const { data } = await stripe.checkout.sessions.list({ customer: await customerOf(phone) });
    expect(data.flatMap(({ payment_method_types: types }) => types).toSorted()).toEqual(['card', 'link']);
  });

  it('calculates tax with AUTOMATIC_TAX=on, from the address that Checkout asks for', async () => {
    const { phone, token } = await newPerson();
    const order = { token, body: { tier: 'basic' }, settings: { AUTOMATIC_TAX: 'on' } };
    expect((await call('POST', '/api/billing/create-subscription-update-session', order)).status).toBe(200);
    const { data } = await stripe.checkout.sessions.list({ customer: await customerOf(phone) });
    expect(String(data[0]!.automatic_tax.enabled)).toBe('true');
  });

  it('leads to the portal for somebody who pays already', async () => {
    const { token, customer } = await newSubscriber('basic');
    const { body } = await buy(token, 'premium');
    expect(body.portalUrl).toContain('/portal/');
    expect((await stripe.checkout.sessions.list({ customer, status: 'open' })).data).toEqual([]);
  });
});

describe('the portal', () => {
  it('is for people who have paid once', async () => {
    const { token } = await newPerson();
    const conflict = {
      success: false,
      code: 'no_billing_account',
      message: 'No billing account yet. Choose a plan first.',
    };
    expect(await portal(token)).toMatchObject({ status: 409, body: conflict });
    await buy(token, 'basic');
    expect(await portal(token)).toMatchObject({ status: 409, body: conflict });
    const subscriber = await newSubscriber('basic');
    expect((await portal(subscriber.token)).body).toEqual({
      success: true,
      portalUrl: expect.stringContaining('/portal/'),
    });
  });
});

describe("somebody else's checkout", () => {
  it('does not exist, and changes nothing', async () => {
    const [anna, ben] = [await newPerson(), await newPerson()];
    const session = await complete((await buy(anna.token, 'premium')).body.portalUrl);
    const notFound = { success: false, code: 'not_found', message: 'Not found' };
    expect(await verify(ben.token, session)).toMatchObject({ status: 404, body: notFound });
    await buy(ben.token, 'basic');
    expect(await verify(ben.token, session)).toMatchObject({ status: 404, body: notFound });
    for (const id of ['cs_test_unknown', 'sub_1', '../customers', 'cs_test_1?expand=x']) {
      expect(await verify(anna.token, id)).toMatchObject({ status: 404, body: notFound });
    }
    expect((await profileOf(ben.token)).metadata.subscriptionTier).toBe('free');
    expect((await verify(anna.token, session)).body).toMatchObject({ tierUpdated: true, newTier: 'premium' });
  });

  it('is not a success while it is open', async () => {
    const { token } = await newPerson();
    const { portalUrl } = (await buy(token, 'basic')).body;
    const id = new URL(portalUrl).pathname.split('/').at(-1)!;
    expect((await verify(token, id)).body).toEqual({ success: false, tierUpdated: false, newTier: 'free' });
  });
});

describe('without any event', () => {
  it('the cron job finds changes on Stripe’s pages within a minute', async () => {
    const { token } = await newPerson();
    await complete((await buy(token, 'premium')).body.portalUrl);
    await runCron();
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('premium');
  });

  it('the hourly fetch finds the rest', async () => {
    const { token, customer } = await newSubscriber('premium');
    await stripe.subscriptions.cancel((await subscriptionOf(customer)).id);
    await makeDue(customer);
    await runCron('0 * * * *');
    expect((await profileOf(token)).metadata).toMatchObject({ subscriptionTier: 'free', subscriptionStatus: 'active' });
  });
});

describe('deletion', () => {
  it('makes no request to Stripe for an account that never requested a plan', async () => {
    const { token } = await newPerson();
    await buy(token);
    expect((await call('DELETE', '/api/user/me', { token, settings: withoutStripe })).status).toBe(200);
  });

  it.each([{ status: 500 }, { drop: true as const }])(
    'fails closed while Stripe is %o, and a second try finishes',
    async (fault) => {
      const { token, customer } = await newSubscriber('premium');
      await sandbox.faults({ stripe: { ...fault, match: customer } });
      expect(await call('DELETE', '/api/user/me', { token })).toMatchObject({
        status: 503,
        body: { code: 'unavailable' },
      });
      expect((await profileOf(token)).metadata.subscriptionTier).toBe('premium');
      await sandbox.faults({ stripe: null });
      expect((await call('DELETE', '/api/user/me', { token })).body).toEqual({ success: true });
      expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
      expect((await subscriptionOf(customer).catch(() => null))?.status ?? 'canceled').toBe('canceled');
      expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
    },
  );

  it('closes an open checkout, so that it cannot be paid any more', async () => {
    const { token } = await newPerson();
    const { portalUrl } = (await buy(token, 'basic')).body;
    await call('DELETE', '/api/user/me', { token });
    await expect(complete(portalUrl)).rejects.toThrow('410');
  });
});

describe('cancelling', () => {
  const cancel = (token: string) => call('POST', '/api/billing/cancel', { token });
  const resume = (token: string) => call('POST', '/api/billing/resume', { token });
  const planOf = async (token: string) => (await profileOf(token)).metadata;
  const week = 7 * 86_400;

  it('ends the plan with its paid week, may be repeated, and may be taken back', async () => {
    const { phone, token, customer, since } = await newSubscriber('premium');
    const { items } = await subscriptionOf(customer);
    const cancelAtDate = new Date(items.data[0]!.current_period_end * 1000).toISOString();
    const first = await cancel(token);
    expect(first).toMatchObject({ status: 200, body: { success: true, cancelAtDate } });
    expect(costOf(first)).toBeLessThanOrEqual(3);
    for (const again of await parallel(5, () => cancel(token)))
      expect(again.body).toEqual({ success: true, cancelAtDate });
    expect(await planOf(token)).toMatchObject({
      subscriptionTier: 'premium',
      subscriptionStatus: 'cancellation_scheduled',
      cancelAtDate,
    });
    for (let time = 0; time < 2; time += 1) {
      expect(await resume(token)).toMatchObject({ status: 200, body: { success: true } });
      expect(await planOf(token)).toMatchObject({ subscriptionStatus: 'active', cancelAtDate: null });
    }
    await cancel(token);
    await sandbox.advanceStripe(phone, week + 7200);
    await deliver(customer, since);
    expect(await planOf(token)).toMatchObject({ subscriptionTier: 'free', subscriptionStatus: 'active' });
    expect((await stripe.charges.list({ customer })).data).toHaveLength(1);
    expect(await resume(token)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await cancel(token)).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  it('counts the cancellation of a day once, however it came, and a reason only after it', async () => {
    const counted = async () => {
      const query = 'select kind, detail, n from daily_totals where day = ? order by kind, detail';
      const { rows } = await database.execute({ sql: query, args: [Math.floor(Date.now() / day)] });
      return rows.map(({ kind, detail, n }) => [kind, detail, n]);
    };
    const say = (token: string, reason: string) =>
      call('POST', '/api/billing/cancel-reason', { token, body: { reason } });
    const { token } = await newSubscriber('basic');
    // A day of its own: no other test counts on it.
    advanceClock(20 * day);
    expect(await say(token, 'price')).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await parallel(5, () => cancel(token));
    expect(await counted()).toEqual([['cancellation', '', 1]]);
    await resume(token);
    await inPortal((await portal(token)).body.portalUrl, 'cancel');
    await cancel(token);
    expect(await say(token, 'cheaper elsewhere')).toMatchObject({ status: 400, body: { code: 'invalid_field' } });
    const answer = await say(token, 'price');
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    expect(costOf(answer)).toBe(1);
    expect(await counted()).toEqual([
      ['cancel_reason', 'price', 1],
      ['cancellation', '', 2],
    ]);
  });

  it('takes back what was cancelled in the portal', async () => {
    const { token } = await newSubscriber('basic');
    await inPortal((await portal(token)).body.portalUrl, 'cancel');
    expect((await resume(token)).body).toEqual({ success: true });
    expect(await planOf(token)).toMatchObject({ subscriptionStatus: 'active', cancelAtDate: null });
  });

  it('undoes a scheduled change first, which a resumption does not restore', async () => {
    const { token, customer } = await newSubscriber('platinum');
    await inPortal((await buy(token)).body.portalUrl, 'switch', { price: await priceOf('basic') });
    expect((await cancel(token)).status).toBe(200);
    expect(await planOf(token)).toMatchObject({
      subscriptionStatus: 'cancellation_scheduled',
      scheduledDowngradeTierId: null,
    });
    await resume(token);
    expect(await planOf(token)).toMatchObject({
      subscriptionTier: 'platinum',
      subscriptionStatus: 'active',
      scheduledDowngradeTierId: null,
    });
    expect((await subscriptionOf(customer)).cancel_at).toBeNull();
  });

  it('ends the plan behind a trial before it begins, and a resumption restores it', async () => {
    const { phone, token } = await newPerson();
    await startTrial(phone, 'premium', 3);
    await verify(token, await complete((await buy(token, 'basic')).body.portalUrl));
    const before = await planOf(token);
    expect(before).toMatchObject({ subscriptionStatus: 'trialing', scheduledDowngradeTierId: 'basic' });
    const { body } = await cancel(token);
    const customer = await customerOf(phone);
    expect(body).toEqual({
      success: true,
      cancelAtDate: new Date((await subscriptionOf(customer)).trial_end! * 1000).toISOString(),
    });
    expect(await planOf(token)).toMatchObject({ subscriptionTier: 'premium', scheduledDowngradeTierId: null });
    await resume(token);
    expect(await planOf(token)).toEqual(before);
    await cancel(token);
    await sandbox.advanceStripe(phone, 4 * 86_400);
    await makeDue(customer);
    await runCron();
    expect((await subscriptionOf(customer)).status).toBe('canceled');
    expect((await stripe.charges.list({ customer })).data).toEqual([]);
  });

  it('says what can be cancelled during a trial: nothing, the plan that follows, or the one beside it', async () => {
    const subscriptionFor = async (token: string) => {
      const response = await call('GET', '/api/billing/subscription', { token });
      expect([response.status, costOf(response)]).toEqual([200, 1]);
      return response.body.subscription;
    };
    const alone = await onTrial('premium');
    expect(await subscriptionFor(alone.token)).toBeNull();
    for (const tier of ['premium', 'basic']) {
      const { token } = await onTrial('premium');
      await verify(token, await complete((await buy(token, tier)).body.portalUrl));
      const { renewalDate: startDate } = await planOf(token);
      expect(await subscriptionFor(token)).toMatchObject({ tier, startDate, cancelAtDate: null });
      const { cancelAtDate } = (await cancel(token)).body;
      expect(await subscriptionFor(token)).toMatchObject({ tier, startDate, cancelAtDate });
    }
    const { phone, token } = await newSubscriber('basic');
    const { renewalDate } = await planOf(token);
    await startTrial(phone, 'premium', 3);
    const beside = { tier: 'basic', status: 'active', startDate: null, renewalDate, cancelAtDate: null };
    expect(await planOf(token)).toMatchObject({ subscriptionTier: 'premium', subscriptionStatus: 'trialing' });
    expect(await subscriptionFor(token)).toEqual(beside);
    const { cancelAtDate } = (await cancel(token)).body;
    expect(cancelAtDate).toBe(renewalDate);
    expect(await subscriptionFor(token)).toEqual({ ...beside, status: 'cancellation_scheduled', cancelAtDate });
  });

  it('collects nothing more of a payment that is due, until it is taken back', async () => {
    const { phone, token, customer, since } = await newSubscriber('basic');
    await sandbox.card(phone, true);
    await sandbox.advanceStripe(phone, week + 7200);
    await deliver(customer, since);
    expect((await planOf(token)).subscriptionStatus).toBe('past_due');
    const collecting = async () =>
      (await stripe.invoices.list({ customer, status: 'open' })).data.map(({ auto_advance }) => auto_advance);
    expect((await cancel(token)).status).toBe(200);
    expect(await collecting()).toEqual([false]);
    await resume(token);
    expect(await collecting()).toEqual([true]);
    await cancel(token);
    await sandbox.card(phone, false);
    await sandbox.advanceStripe(phone, week);
    await makeDue(customer);
    await runCron();
    expect(await planOf(token)).toMatchObject({ subscriptionTier: 'free', subscriptionStatus: 'active' });
    const paid = (await stripe.charges.list({ customer })).data.filter(({ status }) => status === 'succeeded');
    expect(paid).toHaveLength(1);
  });

  it('is a conflict for somebody without a subscription, and changes nothing while Stripe fails', async () => {
    const { token } = await newPerson();
    for (const ask of [cancel, resume]) {
      expect(await ask(token)).toMatchObject({ status: 409, body: { success: false, code: 'conflict' } });
    }
    const subscriber = await newSubscriber('basic');
    await sandbox.faults({ stripe: { status: 500, match: subscriber.customer } });
    expect(await cancel(subscriber.token)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    await sandbox.faults({ stripe: null });
    expect((await cancel(subscriber.token)).status).toBe(200);
  });
});
