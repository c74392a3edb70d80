import { expect, test, afterEach, vi } from 'vitest';
import { startStripe, newPerson } from './local-stripe.ts';
import { indexDelayMs } from '../customers.ts';

test('the account returns the settings of the Dashboard', async () => {
  const { stripe, control } = await startStripe();
  const account = await stripe.accounts.retrieveCurrent();
  expect(account).toMatchObject({ object: 'account', charges_enabled: true, country: 'US' });
  expect(account.settings?.payments.statement_descriptor).toMatch(/^[A-Z ]{5,22}$/);
  expect(account.settings?.branding.icon).toMatch(/^file_/);

  await control('PUT', '/dashboard', { statementDescriptor: null, icon: null, chargesEnabled: false });
  const changed = await stripe.accounts.retrieveCurrent();
  expect(changed.charges_enabled).toBe(false);
  expect(changed.settings).toMatchObject({ payments: { statement_descriptor: null }, branding: { icon: null } });
  expect(changed.business_profile?.support_email).toBe(account.business_profile?.support_email);
  expect(await control('PUT', '/dashboard', { color: 'red' })).toHaveProperty('error');
});

test('a method that is switched off in the Dashboard is on no checkout page', async () => {
  const { stripe } = await startStripe();
  const [configuration] = (await stripe.paymentMethodConfigurations.list()).data;
  expect(configuration).toMatchObject({ is_default: true, us_bank_account: { available: true } });
  const off = { display_preference: { preference: 'off' as const } };
  const changed = await stripe.paymentMethodConfigurations.update(configuration!.id, { us_bank_account: off });
  expect(changed.us_bank_account).toEqual({
    available: false,
    display_preference: { overridable: null, preference: 'off', value: 'off' },
  });
  const product = await stripe.products.create({ name: 'Basic' });
  const price = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 500,
    recurring: { interval: 'week' },
  });
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    line_items: [{ price: price.id, quantity: 1 }],
    success_url: 'https://shop.example',
  });
  expect(session.payment_method_types).toEqual(['card', 'link']);
  await expect(stripe.paymentMethodConfigurations.update('pmc_other', {})).rejects.toMatchObject({ statusCode: 404 });
});

test('tax is pending until the account has an address', async () => {
  const { stripe } = await startStripe();
  expect(await stripe.tax.settings.retrieve()).toMatchObject({
    status: 'pending',
    status_details: { pending: { missing_fields: ['head_office'] } },
  });
  expect((await stripe.tax.registrations.list({ status: 'active' })).data).toEqual([]);
});

test('a checkout offers what the account has switched on, unless it names the methods', async () => {
  const me = await newPerson();
  const open = await me.checkout('basic');
  expect(open.payment_method_types).toEqual(['card', 'link', 'us_bank_account']);
  expect(open.payment_method_configuration_details?.id).toMatch(/^pmc_/);
  expect(open.payment_method_options).toMatchObject({ card: { request_three_d_secure: 'automatic' } });
  const cards = await me.checkout('basic', { allowed_payment_method_types: ['card', 'link'] });
  expect(cards.payment_method_types).toEqual(['card', 'link']);
});

/** Moves the faked date past the delay of the search index. */
function passIndexDelay(): void {
  vi.setSystemTime(Date.now() + indexDelayMs);
}

afterEach(() => {
  vi.useRealTimers();
});

test('search finds customers by their metadata, after the delay of the index', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { stripe } = await newPerson();
  const { id } = await stripe.customers.create({ email: 'Ada@example.test', metadata: { userId: 'u-1' } });
  const find = async (query: string) => (await stripe.customers.search({ query })).data.map((found) => found.id);
  expect(await find("metadata['userId']:'u-1'")).toEqual([]);
  expect((await stripe.customers.list({ email: 'Ada@example.test' })).data).toHaveLength(1);
  passIndexDelay();
  expect(await find("metadata['userId']:'u-1'")).toEqual([id]);
  await stripe.customers.update(id, { metadata: { userId: 'u-3' } });
  expect(await find("metadata['userId']:'u-1'")).toEqual([id]);
  expect(await find("metadata['userId']:'u-3'")).toEqual([]);
  await stripe.customers.del(id);
  passIndexDelay();
  expect(await find("metadata['userId']:'u-3'")).toEqual([]);
  await expect(stripe.customers.search({ query: 'colour:"red"' })).rejects.toMatchObject({ param: 'query' });
});
