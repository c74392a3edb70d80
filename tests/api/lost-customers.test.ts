import { describe, expect, it } from 'vitest';
import { call, runCron } from './support/api.ts';
import { buy, checkOut, newSubscriber, onTrial, subscribe, verify } from './support/buying.ts';
import { database, during, sandbox } from './support/sandbox.ts';
import { logLines } from './support/requests.ts';
import { deleteAccount, metadataOf, newPerson, type Person, planOf, profileOf, userOf } from './support/person.ts';
import { customerOf, customersWith, fetchByCron, paymentsOf, stripe } from './support/stripe.ts';

const createPortal = (token: string) => call('POST', '/api/billing/create-portal-session', { token });
const lost = { cut: true } as const;
/** Stripe stores the failure under the idempotency key of the request. */
const storedFailure = { status: 500, remember: true } as const;

/** A user who wanted to buy a plan while Stripe failed at the creation of the customer. */
async function refused(fault: object): Promise<Person> {
  const person = await newPerson();
  const stripeFault = { stripe: { ...fault, path: '/v1/customers', match: userOf(person.token) } };
  const refusal = await during(stripeFault, () => buy(person.token, 'basic'));
  expect(refusal).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect(await customerOf(person.phone)).toBeNull();
  expect(await customersWith(person.phone)).toHaveLength(fault === lost ? 1 : 0);
  return person;
}

describe.each([
  ['a lost response', lost],
  ['a stored 500', storedFailure],
])('the creation of a customer with %s', (_, fault) => {
  it('does not block buying, which is charged once', async () => {
    const { phone, token } = await refused(fault);
    await subscribe(token, 'basic');
    expect(await planOf(token)).toEqual(['basic', 'active']);
    expect(await customersWith(phone)).toEqual([await customerOf(phone)]);
    expect(await paymentsOf(await customerOf(phone))).toHaveLength(1);
  });

  it('is found or repeated by the next cron job', async () => {
    const { phone } = await refused(fault);
    await runCron();
    expect(await customersWith(phone)).toEqual([await customerOf(phone)]);
  });

  it('leaves nothing behind when the account is deleted, as soon as Stripe responds', async () => {
    const { phone, token } = await refused(fault);
    const refusal = await during({ stripe: { status: 500, match: userOf(token) } }, () => deleteAccount(token));
    expect(refusal.status).toBe(503);
    expect((await profileOf(token)).status).toBe('approved');
    expect((await deleteAccount(token)).body).toEqual({ success: true });
    expect(await customersWith(phone)).toEqual([]);
  });
});

it('a customer whose id was lost is used by a later attempt, which creates no second one', async () => {
  const { phone, token } = await refused(lost);
  await database.execute('update customers set attempt = 2 where user_id = ?', [userOf(token)]);
  await subscribe(token, 'basic');
  expect(await customersWith(phone)).toEqual([await customerOf(phone)]);
});

it('a customer whose id was lost is deleted with the account, also beside another one that is known', async () => {
  const { phone, token, customer } = await newSubscriber('basic');
  await database.execute('update customers set attempt = 2 where stripe_id = ?', [customer]);
  await stripe.customers.create({ phone, metadata: { userId: userOf(token), phone } });
  expect(await customersWith(phone)).toHaveLength(2);
  expect((await deleteAccount(token)).body).toEqual({ success: true });
  expect(await customersWith(phone)).toEqual([]);
});

describe('a customer that was deleted in the dashboard', () => {
  it('leaves nothing behind when the response about the next one is lost and the account is deleted', async () => {
    const { phone, token } = await newPerson();
    await buy(token, 'basic');
    await stripe.customers.del(await customerOf(phone));
    const fault = { ...lost, path: '/v1/customers', match: phone.slice(1) };
    expect((await during({ stripe: fault }, () => buy(token, 'basic'))).status).toBe(503);
    expect(await customersWith(phone)).toHaveLength(1);
    expect((await deleteAccount(token)).status).toBe(200);
    expect(await customersWith(phone)).toEqual([]);
  });

  it('loses the card saved for the end of the trial, while the trial continues', async () => {
    const { phone, token } = await onTrial('premium');
    await checkOut(token, 'basic');
    const customer = await customerOf(phone);
    await stripe.customers.del(customer);
    await runCron();
    const { rows } = await database.execute('select setup_session from customers where stripe_id = ?', [customer]);
    expect(rows[0]!.setup_session).toBeNull();
    expect((await profileOf(token)).isTrial).toBe(true);
    expect((await buy(token, 'basic')).status).toBe(200);
  });

  it('ends the plan, and blocks neither the next plan nor the deletion', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    await stripe.customers.del(customer);
    await fetchByCron(customer, '0 * * * *');
    const body = { message: 'No billing account yet. Choose a plan first.' };
    expect(await createPortal(token)).toMatchObject({ status: 409, body });
    expect(await planOf(token)).toEqual(['free', 'active']);
    await subscribe(token, 'premium');
    expect(await planOf(token)).toEqual(['premium', 'active']);
    expect((await deleteAccount(token)).status).toBe(200);
    expect(await customersWith(phone)).toEqual([]);
  });
});

it('a stored 500 for the subscription after the trial blocks neither the cron job, which starts the plan, nor leaving', async () => {
  const { phone, token } = await onTrial('premium');
  const session = await checkOut(token, 'basic');
  const customer = await customerOf(phone);
  const fault = { ...storedFailure, path: '/v1/subscriptions', match: customer };
  expect((await during({ stripe: fault }, () => verify(token, session))).status).toBe(503);
  await runCron();
  expect((await verify(token, session)).status).toBe(200);
  const plan = { subscriptionStatus: 'trialing', scheduledDowngradeTierId: 'basic' };
  expect(await metadataOf(token)).toMatchObject(plan);
  expect((await stripe.subscriptions.list({ customer, status: 'all' })).data).toMatchObject([{ status: 'trialing' }]);
  expect((await deleteAccount(token)).status).toBe(200);
  expect(await customersWith(phone)).toEqual([]);
});

it('a customer that Stripe does not know keeps the plan, and the log says so', async () => {
  const { token, customer } = await newSubscriber('premium');
  await during({ stripe: { unknownCustomer: true, match: customer } }, async () => {
    await fetchByCron(customer);
    expect(logLines('stripe_customer_unknown')).toContainEqual(expect.objectContaining({ customer }));
    expect(await planOf(token)).toEqual(['premium', 'active']);
    const answers = [await createPortal(token), await buy(token, 'basic'), await deleteAccount(token)];
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
  });
  expect(await planOf(token)).toEqual(['premium', 'active']);
  expect((await deleteAccount(token)).status).toBe(200);
  expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
});

it('a deletion goes on when Stripe refuses to void an invoice', async () => {
  const { phone, token, customer } = await newSubscriber('basic');
  await sandbox.card(phone, true);
  await sandbox.advanceStripe(phone, 8 * 86_400);
  const [invoice] = (await stripe.invoices.list({ customer, status: 'open' })).data;
  const fault = { status: 400, path: `/v1/invoices/${invoice!.id}/void` };
  expect((await during({ stripe: fault }, () => deleteAccount(token))).body).toEqual({ success: true });
  expect((await stripe.invoices.retrieve(invoice!.id)).status).toBe('open');
  expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
});
