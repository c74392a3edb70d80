import { afterEach, describe, expect, it } from 'vitest';
import { unknownPricesInUse } from '../../worker/billing/subscriptions.ts';
import { plans } from '../../worker/contract/plans.ts';
import { setUpStripe } from '../../worker/operations/stripe-setup/stripe-setup.ts';
import { botCall, call, cronAfter, parallel, runCron } from './support/api.ts';
import {
  buy,
  checkOut,
  inPortal,
  newSubscriber,
  onTrial,
  switchPlan,
  verify,
} from './support/buying.ts';
import { advanceClock, day, minute, second } from './support/clock.ts';
import { newContact, newPhone, post, usageOf } from './support/contacts.ts';
import {
  deleteAccount,
  externalSession,
  getMe,
  metadataOf,
  newPerson,
  planOf,
  profileOf,
} from './support/person.ts';
import { costOf, intercept, logLines, watchDatabase } from './support/requests.ts';
import { deliveredEvents, during, run, sandbox, userRowOf } from './support/sandbox.ts';
import { OpenStream } from './support/streams.ts';
import { advance, deliver, fetchByCron, hour, week } from './support/stripe-events.ts';
import {
  changePrice,
  customerOf,
  latestInvoice,
  stripe,
  subscriptionOf,
} from './support/stripe.ts';

const activate = (trialToken: string) =>
  call('POST', '/auth/verify-trial-token', { body: { trialToken } });
const askForTrial = (body: object, id?: string) => botCall('/api/bot/trials', body, id);
const tokenOf = (url: string) => new URL(url).searchParams.get('token')!;
const trialFor = async (phone: string) => tokenOf((await askForTrial({ phone })).body.url);

describe('a trial', () => {
  it('opens the session and grants its plan for its days, by the clock, in a week that begins with it', async () => {
    advanceClock(0);
    const { phone } = await newContact();
    await post(phone, 4);
    const { status, body } = await askForTrial({
      phone,
      tier: 'basic',
      days: 3,
    });
    expect(status).toBe(200);
    expect(body.url).toMatch(/^http:\/\/solace\.test\/activate-trial\?token=[\w-]{43,}$/);
    expect(Date.parse(body.expiresAt) - Date.now()).toBe(7 * day);

    const activated = await activate(tokenOf(body.url));
    const { success, message, token } = activated.body;
    expect([activated.status, success, message]).toEqual([200, true, undefined]);
    expect(await planOf(token)).toEqual(['basic', 'trialing']);
    const { isTrial, metadata } = await profileOf(token);
    expect([isTrial, Date.parse(metadata.renewalDate) - Date.now()]).toEqual([true, 3 * day]);
    expect((await profileOf(await externalSession(phone))).isTrial).toBe(true);
    const voice = await botCall('/api/bot/usage', {
      phone,
      kind: 'voice',
      count: 2,
    });
    expect(voice.body).toMatchObject({
      allowed: true,
      used: 2,
      limit: 30,
      tier: 'basic',
      voice: true,
    });

    advanceClock(3 * day);
    const ended = { subscriptionTier: 'free', renewalDate: null };
    expect(await profileOf(token)).toMatchObject({
      isTrial: false,
      metadata: ended,
    });
    expect(await usageOf(phone)).toMatchObject({
      allowed: true,
      used: 2,
      limit: 5,
    });
  });

  it('is one of premium for a week for a number, ever, also with two links and after the account was deleted', async () => {
    advanceClock(0);
    const { phone } = await newContact();
    const links = [await trialFor(phone), await trialFor(phone)];
    const answers = await parallel(50, (index) => activate(links[index % 2]!));
    const [started, ...others] = answers.toSorted((one, other) => one.status - other.status);
    const renewalDate = new Date(Date.now() + 7 * day).toISOString();
    expect(await metadataOf(started!.body.token)).toMatchObject({
      subscriptionTier: 'premium',
      renewalDate,
    });
    for (const { status, body } of others)
      expect([status, body.success]).toEqual([expect.toBeOneOf([401, 409]), false]);
    const spent = {
      success: false,
      code: 'trial_spent',
      message: 'This number has already had its trial.',
    };
    expect(others.map(({ body }) => body)).toContainEqual(spent);
    expect(await askForTrial({ phone })).toMatchObject({
      status: 409,
      body: spent,
    });
    await deleteAccount(started!.body.token);
    await newContact(phone);
    expect(await askForTrial({ phone })).toMatchObject({
      status: 409,
      body: spent,
    });
  });

  it('returns the same link to a replay, also after the account was deleted', async () => {
    const { phone, token } = await newPerson();
    const id = crypto.randomUUID();
    const answers = await parallel(50, () => askForTrial({ phone }, id));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    await deleteAccount(token);
    expect(await askForTrial({ phone }, id)).toMatchObject({
      status: 200,
      text: answers[0]!.text,
    });
    expect((await askForTrial({ phone, days: 2 }, id)).status).toBe(409);
    expect((await askForTrial({ phone })).status).toBe(404);
  });

  it('is refused for a number that never wrote, an unknown link, and one that is older than its seven days', async () => {
    expect(await askForTrial({ phone: newPhone() })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    const { phone } = await newContact();
    const link = await trialFor(phone);
    const invalid = {
      success: false,
      code: 'invalid_token',
      message: 'Invalid or expired token',
    };
    const requests = watchDatabase('trial_links');
    for (const unknown of ['0'.repeat(64), `${link}0`]) {
      const result = await activate(unknown);
      expect(result).toMatchObject({ status: 401, body: invalid });
      expect(costOf(result)).toBe(1);
    }
    expect(requests.map(({ text }) => /insert|update|delete/i.test(text))).toEqual([false, false]);
    advanceClock(7 * day + second);
    expect(await activate(link)).toMatchObject({
      status: 401,
      body: invalid,
    });
  });

  it('that was begun by a link answers the same link with trial_running until its end, also after the cleanup', async () => {
    advanceClock(0);
    const { phone, token } = await newPerson();
    const url = (
      await askForTrial({
        phone,
        days: 30,
      })
    ).body.url as string;
    const begun = (await activate(tokenOf(url))).body.token;
    const running = {
      success: false,
      code: 'trial_running',
      message: 'This trial has started already. Please log in.',
    };
    expect(await activate(tokenOf(url))).toMatchObject({
      status: 409,
      body: running,
    });
    for (const session of [token, begun]) expect((await getMe(session)).status).toBe(200);
    await cronAfter(29 * day);
    expect(await activate(tokenOf(url))).toMatchObject({
      status: 409,
      body: running,
    });
    advanceClock(2 * day);
    expect(await activate(tokenOf(url))).toMatchObject({ status: 401 });
  });

  const endings = [
    '.',
    ')',
    '*',
    '>',
    '%3E',
    ' ',
    '\u200b',
    ',',
    '/',
    "'",
    '_',
    '”',
    '»',
    '。',
    '؟',
    '\n',
  ];
  it.each(endings)('begins with a link that was pasted with %j behind it', async (ending) => {
    const { phone } = await newContact();
    expect((await activate((await trialFor(phone)) + ending)).status).toBe(200);
  });

  it('shows its week on open pages at once, and leaves a paid week alone', async () => {
    const free = await newPerson();
    await post(free.phone, 3);
    const stream = await OpenStream.opened(free.token);
    await activate(await trialFor(free.phone));
    await stream.showing(0);
    const { phone, token } = await newSubscriber('basic');
    await post(phone, 3);
    await activate(await trialFor(phone));
    expect(await profileOf(token)).toMatchObject({
      isTrial: true,
      messagesUsedThisPeriod: 3,
      metadata: {
        subscriptionTier: 'premium',
        scheduledDowngradeTierId: 'basic',
      },
    });
  });
});

it('a plan chosen during the trial waits for its end, and another one does not take its place', async () => {
  const { phone, token } = await onTrial('premium');
  const session = await checkOut(token, 'basic');
  // The site does not know the saved card yet.
  const again = await buy(token, 'premium');
  expect(new URL(again.body.portalUrl).pathname).not.toContain('/checkout/');
  expect((await verify(token, session)).body).toEqual({
    success: true,
    tierUpdated: false,
    newTier: 'premium',
  });
  await parallel(2, () => verify(token, session));
  const trialEndsAt = Number((await userRowOf({ phone })).trial_ends_at);
  const { data } = await stripe.subscriptions.list({
    customer: await customerOf(phone),
    status: 'all',
  });
  const trial_end = Math.floor(trialEndsAt / 1000);
  expect(data).toMatchObject([
    {
      status: 'trialing',
      metadata: { tier: 'basic' },
      trial_end,
    },
  ]);
  expect(await metadataOf(token)).toMatchObject({
    subscriptionTier: 'premium',
    subscriptionStatus: 'trialing',
    renewalDate: new Date(trialEndsAt).toISOString(),
    scheduledDowngradeTierId: 'basic',
  });
});

describe('the plan after a trial', () => {
  it('is told as scheduled, also the tried one, and one to which it was changed', async () => {
    const { phone, token } = await onTrial('premium');
    await verify(token, await checkOut(token, 'premium'));
    const plan = {
      subscriptionTier: 'premium',
      subscriptionStatus: 'trialing',
    };
    expect(await metadataOf(token)).toMatchObject({
      ...plan,
      scheduledDowngradeTierId: 'premium',
    });

    await switchPlan(token, 'basic');
    await fetchByCron(await customerOf(phone));
    expect(await metadataOf(token)).toMatchObject({
      ...plan,
      scheduledDowngradeTierId: 'basic',
    });
  });

  const endTrial = (phone: string, agoMs: number) =>
    run('update users set trial_ends_at = ? where phone = ?', Date.now() - agoMs, phone);
  const tiersTold = async (phone: string) =>
    (await deliveredEvents(phone))
      .filter(({ type }) => type === 'plan.changed')
      .map(({ data }) => data['tier']);

  it('that Stripe refuses is told by the call of the page, whoever synced first, and is logged', async () => {
    const { phone, token } = await onTrial('premium');
    // The one request that names the user is that which creates the subscription.
    const refusal = { stripe: { status: 400, match: 'after_trial' } };
    const session = await during(refusal, () => checkOut(token, 'basic'));
    await during(refusal, () => verify(token, session));
    for (let again = 0; again < 2; again += 1)
      expect(await verify(token, session)).toMatchObject({
        body: {
          success: true,
          tierUpdated: false,
          newTier: 'premium',
          planRefused: true,
        },
      });
    expect(logLines('trial_plan_refused')).toContainEqual(
      expect.objectContaining({
        session,
        reason: 'subscription_refused',
      }),
    );
    expect(await usageOf(phone)).toMatchObject({ tier: 'premium' });
    await verify(token, await checkOut(token, 'basic')).then(({ body }) =>
      expect(body.planRefused).toBeUndefined(),
    );
  });

  it('starts once when the response about it is lost and the trial ends before the next call', async () => {
    const { phone, token } = await onTrial('premium');
    const session = await checkOut(token, 'basic');
    const lost = { stripe: { cut: true, match: 'after_trial' } } as const;
    expect((await during(lost, () => verify(token, session))).status).toBe(503);
    await endTrial(phone, second);
    expect((await verify(token, session)).status).toBe(200);
    const { data } = await stripe.subscriptions.list({
      customer: await customerOf(phone),
      status: 'all',
    });
    expect(data.map(({ status }) => status)).toEqual(['trialing']);
  });

  it('gives the customer the billing address of the card, which determines the tax', async () => {
    const { phone, token } = await onTrial('premium');
    const session = await checkOut(token, 'basic');
    const address = { country: 'US', postal_code: '94107' };
    // The local checkout asks for no address.
    intercept(async (request, _, send) => {
      const response = await send(request);
      if (!new URL(request.url).search.includes('setup_intent')) return response;
      const found = await response.json<any>();
      const { billing_details: details } = found.setup_intent.payment_method;
      Object.assign(details.address, address);
      return Response.json(found);
    });
    expect((await verify(token, session)).status).toBe(200);
    expect(await stripe.customers.retrieve(await customerOf(phone))).toMatchObject({ address });
  });

  it('is granted when it is paid, and not by the end of the trial', async () => {
    const { phone, token } = await onTrial('premium');
    await verify(token, await checkOut(token, 'platinum'));
    const customer = await customerOf(phone);
    await sandbox.card(phone, true);
    await endTrial(phone, second);
    expect(await usageOf(phone)).toMatchObject({
      limit: 5,
      tier: 'free',
    });
    await endTrial(phone, 5 * minute);
    await parallel(5, () => runCron());
    expect(await tiersTold(phone)).toEqual(['premium', 'free']);
    for (const seconds of [0, 3 * 24 * hour + 1, 2 * hour]) {
      await advance(phone, seconds);
      await fetchByCron(customer);
      expect(await usageOf(phone)).toMatchObject({
        limit: 5,
        tier: 'free',
      });
    }
    expect(await planOf(token)).toEqual(['free', 'past_due']);
    expect(await tiersTold(phone)).toEqual(['premium', 'free']);
    await sandbox.card(phone, false);
    await stripe.invoices.pay((await latestInvoice(customer)).id);
    await advance(phone, 0);
    expect(await usageOf(phone)).toMatchObject({
      limit: 160,
      tier: 'platinum',
    });
    expect(await tiersTold(phone)).toEqual(['premium', 'free', 'platinum']);
  });

  it.each([
    ['paid', false, ['basic', 'active']],
    ['declined', true, ['free', 'past_due']],
  ])(
    'that is %s is announced to the bot when a sync sees the end of the trial first',
    async (_, declines, plan) => {
      const { phone, token } = await onTrial('premium');
      await verify(token, await checkOut(token, 'basic'));
      await sandbox.card(phone, declines);
      await endTrial(phone, second);
      for (const seconds of [3 * 24 * hour + 1, 2 * hour]) await advance(phone, seconds);
      await runCron();
      expect(await planOf(token)).toEqual(plan);
      expect(await tiersTold(phone)).toEqual(['premium', plan[0]]);
    },
  );
});

const siteUrl = 'http://solace.test';
const { weeklyCents } = plans.basic;

/** Creates a price of no plan. */
async function newPrice(): Promise<string> {
  const { id: product } = await stripe.products.create({ name: 'Another' });
  const price = {
    product,
    currency: 'usd',
    unit_amount: 500,
    recurring: { interval: 'week' },
  } as const;
  return (await stripe.prices.create(price)).id;
}

const portalPage = async (token: string) => (await fetch((await buy(token)).body.portalUrl)).text();

describe('the catalogue', () => {
  afterEach(async () => {
    Object.assign(plans.basic, { weeklyCents });
    Object.assign(plans.premium, { onSale: true });
    await setUpStripe(stripe, siteUrl);
  });

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
    expect(logLines('price_unknown')).toContainEqual(
      expect.objectContaining({
        customer,
        price,
      }),
    );
    expect(await planOf(token)).toEqual(['basic', 'active']);
    const { id } = await subscriptionOf(customer);
    expect(await unknownPricesInUse(stripe)).toContainEqual({
      price,
      subscription: id,
    });
  });

  it('a price whose amount has changed lets those who pay the old one change and cancel', async () => {
    const { token, customer } = await newSubscriber('basic');
    const held = (await subscriptionOf(customer)).items.data[0]!.price.id;
    Object.assign(plans.basic, { weeklyCents: 1299 });
    const { lines } = await setUpStripe(stripe, siteUrl);
    expect(lines).toContain('created price basic_weekly');
    expect(lines).toContain(`created portal configuration for ${held}`);
    // A wrong address would keep receipts, and news of failed payments, from the person.
    const { data: portals } = await stripe.billingPortal.configurations.list({ active: true });
    expect(portals[0]!.features.customer_update.allowed_updates).toEqual(
      expect.arrayContaining(['email', 'name']),
    );
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

  /** The Worker of a call with settings of its own reads the catalogue that a test has changed. */
  const settings = {};

  describe('a plan that is off sale', () => {
    it('cannot be bought; its price stays, and whoever has it keeps it and can change', async () => {
      const person = await newSubscriber('premium');
      const price = (await subscriptionOf(person.customer)).items.data[0]!.price.id;
      Object.assign(plans.premium, { onSale: false });
      const { lines } = await setUpStripe(stripe, siteUrl);
      expect(lines).toContain('kept product Premium, which is off sale');
      expect((await stripe.prices.retrieve(price)).active).toBe(true);
      const refused = await buy((await newPerson()).token, 'premium', { settings });
      expect(refused).toMatchObject({
        status: 409,
        body: { code: 'conflict' },
      });
      await advance(person.phone, week + 2 * hour);
      expect(await planOf(person.token)).toEqual(['premium', 'active']);
      expect(await portalPage(person.token)).toContain('Switch to Platinum');
      expect(await portalPage((await newSubscriber('basic')).token)).not.toContain(
        'Switch to Premium',
      );
    });

    it('does not start after a trial for which it was chosen; the bot is told', async () => {
      const { phone, token } = await onTrial('basic');
      const sessionId = await checkOut(token, 'premium');
      Object.assign(plans.premium, { onSale: false });
      const result = await verify(token, sessionId, settings);
      expect(result.status).toBe(200);
      expect(await planOf(token)).toEqual(['basic', 'trialing']);
      expect((await metadataOf(token)).scheduledDowngradeTierId).toBeNull();
      await verify(token, sessionId);
      const told = (await deliveredEvents(phone)).filter(({ data }) => data.offSaleTier);
      expect(told).toMatchObject([
        {
          type: 'plan.changed',
          data: {
            tier: 'basic',
            offSaleTier: 'premium',
          },
        },
      ]);
    });
  });
});
