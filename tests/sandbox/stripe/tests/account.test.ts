import { expect, test } from 'vitest';
import { startStripe } from './start-stripe.ts';

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
