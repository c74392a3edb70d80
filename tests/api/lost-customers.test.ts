import { describe, expect, it, vi } from 'vitest';
import { call, runCron } from './support/api.ts';
import { buy, complete, newSubscriber, onTrial, profileOf, verify } from './support/buying.ts';
import { database } from './support/database.ts';
import { logLines } from './support/log.ts';
import { deleteAccount, newPerson, userOf, type Person } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';
import { customerOf, customersWith, makeDue, stripe, subscriptionOf } from './support/stripe.ts';

/** A user with a customer at Stripe whose creation response was lost. */
async function unanswered(): Promise<Person> {
  const person = await newPerson();
  await sandbox.faults({ stripe: { cut: true, match: userOf(person.token) } });
  expect((await buy(person.token, 'basic')).status).toBe(503);
  await sandbox.faults({ stripe: null });
  expect(await customersWith(person.phone)).toHaveLength(1);
  expect(await customerOf(person.phone)).toBeNull();
  return person;
}

describe('a customer at Stripe whose id was lost', () => {
  it('is deleted with the account', async () => {
    const { phone, token } = await unanswered();
    expect((await deleteAccount(token)).body).toEqual({ success: true });
    expect(await customersWith(phone)).toEqual([]);
  });

  it('keeps the account until Stripe responds', async () => {
    const { phone, token } = await unanswered();
    await sandbox.faults({ stripe: { status: 500, match: userOf(token) } });
    expect((await deleteAccount(token)).status).toBe(503);
    await sandbox.faults({ stripe: null });
    expect((await profileOf(token)).status).toBe('approved');
    expect((await deleteAccount(token)).status).toBe(200);
    expect(await customersWith(phone)).toEqual([]);
  });

  it('is deleted with the account, also beside another one that is known', async () => {
    const { phone, token } = await newSubscriber('basic');
    const sql = 'update customers set attempt = 2 where stripe_id = ? returning user_id';
    const { rows } = await database.execute({ sql, args: [await customerOf(phone)] });
    await stripe.customers.create({ phone, metadata: { userId: rows[0]!.user_id as string, phone } });
    expect(await customersWith(phone)).toHaveLength(2);
    expect((await deleteAccount(token)).body).toEqual({ success: true });
    expect(await customersWith(phone)).toEqual([]);
  });

  it('is found by the next cron job, and is used for the purchase', async () => {
    const { phone, token } = await unanswered();
    await runCron();
    expect([await customerOf(phone)]).toEqual(await customersWith(phone));
    await verify(token, await complete((await buy(token, 'basic')).body.portalUrl));
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('basic');
    expect(await customersWith(phone)).toHaveLength(1);
  });
});

describe('a customer that was deleted in the dashboard', () => {
  it('is replaced when its user requests a plan', async () => {
    const { phone, token } = await newPerson();
    await buy(token, 'basic');
    const gone = await customerOf(phone);
    await stripe.customers.del(gone);
    await verify(token, await complete((await buy(token, 'premium')).body.portalUrl));
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('premium');
    expect(await customerOf(phone)).not.toBe(gone);
  });

  it('loses the card saved for the end of the trial, while the trial continues', async () => {
    const { phone, token } = await onTrial('premium');
    await complete((await buy(token, 'basic')).body.portalUrl);
    const customer = await customerOf(phone);
    await stripe.customers.del(customer);
    await runCron();
    const sql = 'select setup_session from customers where stripe_id = ?';
    expect((await database.execute({ sql, args: [customer] })).rows[0]!.setup_session).toBeNull();
    expect(await profileOf(token)).toMatchObject({ isTrial: true });
    expect((await buy(token, 'basic')).status).toBe(200);
  });

  it('ends the plan, and blocks neither the next plan nor the deletion', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    await stripe.customers.del(customer);
    await makeDue(customer);
    await runCron('0 * * * *');
    const portal = await call('POST', '/api/billing/create-portal-session', { token });
    expect(portal).toMatchObject({ status: 409, body: { message: 'No billing account yet. Choose a plan first.' } });
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('free');
    await verify(token, await complete((await buy(token, 'premium')).body.portalUrl));
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('premium');
    expect((await deleteAccount(token)).status).toBe(200);
    expect(await customersWith(phone)).toEqual([]);
  });
});

const urlOf = (input: RequestInfo | URL) => (input instanceof Request ? input.url : String(input));
const storedFailure = (path: string) => ({ status: 500, remember: true, path }) as const;

/** A user for whom Stripe has stored a 500 under the idempotency key of the request that creates the customer. */
async function refusedCustomer(): Promise<Person> {
  const person = await newPerson();
  await sandbox.faults({ stripe: { ...storedFailure('/v1/customers'), match: userOf(person.token) } });
  expect((await buy(person.token, 'basic')).status).toBe(503);
  await sandbox.faults({ stripe: null });
  return person;
}

describe('a stored 500 for the customer', () => {
  it('does not block buying', async () => {
    const { phone, token } = await refusedCustomer();
    await verify(token, await complete((await buy(token, 'basic')).body.portalUrl));
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('basic');
    expect(await customersWith(phone)).toHaveLength(1);
  });

  it('does not block leaving, which leaves nothing behind', async () => {
    const { phone, token } = await refusedCustomer();
    expect((await deleteAccount(token)).status).toBe(200);
    expect(await customersWith(phone)).toEqual([]);
  });

  it('does not block the cron job', async () => {
    const { phone } = await refusedCustomer();
    await runCron();
    expect([await customerOf(phone)]).toEqual(await customersWith(phone));
  });
});

describe('a lost response and then a stored 500', () => {
  it('lead to one customer', async () => {
    const { phone, token } = await newPerson();
    const match = userOf(token);
    await sandbox.faults({ stripe: { cut: true, path: '/v1/customers', match } });
    await buy(token, 'basic');
    await sandbox.faults({ stripe: { ...storedFailure('/v1/customers'), match } });
    await buy(token, 'basic');
    await sandbox.faults({ stripe: null });
    await verify(token, await complete((await buy(token, 'basic')).body.portalUrl));
    expect(await customersWith(phone)).toEqual([await customerOf(phone)]);
  });
});

describe('a stored 500 for the subscription after the trial', () => {
  async function refusedPlan(): Promise<Person & { session: string }> {
    const person = await onTrial('premium');
    const session = await complete((await buy(person.token, 'basic')).body.portalUrl);
    const match = await customerOf(person.phone);
    await sandbox.faults({ stripe: { ...storedFailure('/v1/subscriptions'), match } });
    expect((await verify(person.token, session)).status).toBe(503);
    await sandbox.faults({ stripe: null });
    return { ...person, session };
  }

  it('starts the plan at the next attempt, once', async () => {
    const { phone, token, session } = await refusedPlan();
    expect((await verify(token, session)).status).toBe(200);
    expect((await profileOf(token)).metadata).toMatchObject({
      subscriptionStatus: 'trialing',
      scheduledDowngradeTierId: 'basic',
    });
    await runCron();
    const { data } = await stripe.subscriptions.list({ customer: await customerOf(phone), status: 'all' });
    expect(data).toHaveLength(1);
  });

  it('blocks neither the cron job nor leaving', async () => {
    const { phone, token } = await refusedPlan();
    await runCron();
    expect((await subscriptionOf(await customerOf(phone))).status).toBe('trialing');
    expect((await deleteAccount(token)).status).toBe(200);
    expect(await customersWith(phone)).toEqual([]);
  });
});

describe('the customer that replaces a deleted one', () => {
  it('leaves nothing behind when its response is lost and the account is deleted', async () => {
    const { phone, token } = await newPerson();
    await buy(token, 'basic');
    await stripe.customers.del(await customerOf(phone));
    const real = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const isCreation = urlOf(input).endsWith('/v1/customers') && init?.method === 'POST';
      const response = await real(input, init);
      if (isCreation) throw new TypeError('Network connection lost.');
      return response;
    });
    expect((await buy(token, 'basic')).status).toBe(503);
    vi.restoreAllMocks();
    expect(await customersWith(phone)).toHaveLength(1);
    expect((await deleteAccount(token)).status).toBe(200);
    expect(await customersWith(phone)).toEqual([]);
  });
});

describe('a customer that Stripe does not know', () => {
  it('keeps the plan, and the log says so', async () => {
    const { token, customer } = await newSubscriber('premium');
    await makeDue(customer);
    await sandbox.faults({ stripe: { unknownCustomer: true, match: customer } });
    await runCron();
    expect(logLines('stripe_customer_unknown')).toContainEqual(expect.objectContaining({ customer }));
    expect((await profileOf(token)).metadata).toMatchObject({
      subscriptionTier: 'premium',
      subscriptionStatus: 'active',
    });
    const portal = await call('POST', '/api/billing/create-portal-session', { token });
    expect([portal.status, (await buy(token, 'basic')).status]).toEqual([503, 503]);
    expect((await deleteAccount(token)).status).toBe(503);
    await sandbox.faults({ stripe: null });
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('premium');
    expect((await deleteAccount(token)).status).toBe(200);
    expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
  });
});

it('a deletion goes on when Stripe refuses to void an invoice', async () => {
  const { phone, token, customer } = await newSubscriber('basic');
  await sandbox.card(phone, true);
  await sandbox.advanceStripe(phone, 8 * 86_400);
  expect((await stripe.invoices.list({ customer, status: 'open' })).data).toHaveLength(1);
  const real = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    const url = urlOf(input);
    const error = { type: 'invalid_request_error', message: 'Invoice is already paid', code: 'invoice_already_paid' };
    return url.endsWith('/void') ? Promise.resolve(Response.json({ error }, { status: 400 })) : real(input, init);
  });
  expect((await deleteAccount(token)).body).toEqual({ success: true });
  expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
});
