import { describe, expect, it } from 'vitest';
import { until } from '../../api/support/clock.ts';
import { call, product } from '../shared-product.ts';
import { database, tablesWith } from './stored-rows.ts';
import { eventTypesOf, newSubscriber, setFault } from './subscriber.ts';
import { auditLines, support } from './support-command.ts';

it('export prints what every table and Stripe hold, without secrets and hashes', async () => {
  const phone = await newSubscriber();
  const { stdout } = await support('export', phone);
  const data = JSON.parse(stdout);
  expect(data.account).toMatchObject({ phone, tier: 'basic', trialTier: 'premium', used: 1 });
  expect(data.account.createdAt).toMatch(/^\d{4}-\d\d-\d\dT/);
  expect(data.stripe.subscriptions).toMatchObject([{ status: 'active' }]);
  expect(data.stripe.invoices).toHaveLength(1);
  expect(data.stripe.paymentMethods).toHaveLength(1);
  for (const list of ['sessions', 'code', 'limits', 'trialLinks', 'usedTrials', 'notes']) {
    expect(data[list], list).not.toHaveLength(0);
  }
  const exported = [
    'bot_calls',
    'codes',
    'customers',
    'outbox',
    'rate_limit_events',
    'sessions',
    'trial_links',
    'users',
  ];
  expect(exported).toEqual(expect.arrayContaining(await tablesWith(phone, data.account.id)));
  expect(stdout).not.toMatch(/"\w*mac"|wonBy|leaseToken": "/i);
});

describe('erase', () => {
  it('changes nothing when Stripe cannot confirm that nothing charges again', async () => {
    const phone = await newSubscriber();
    const sessions = () =>
      database.execute({
        sql: 'select id from sessions where user_id = (select id from users where phone = ?)',
        args: [phone],
      });
    const { rows } = await sessions();
    await setFault('stripe', { status: 500 });
    expect(await support('erase', phone, '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('answered 503'),
    });
    expect(auditLines().at(-1)).toMatchObject({ command: 'erase', outcome: 'failed' });
    await setFault('stripe', null);
    expect(await tablesWith(phone)).toContain('users');
    expect(rows.length).toBeGreaterThan(0);
    expect((await sessions()).rows).toEqual(rows);
  });

  it('leaves no row that names the user, ends the billing and sends user.deleted', async () => {
    const phone = await newSubscriber();
    const { account, stripe } = JSON.parse((await support('export', phone)).stdout);
    const { stdout } = await support('erase', phone, '--yes');
    expect(stdout).toContain(`Erased the basic account of ${phone}`);
    await until(
      'no row with the number',
      () => tablesWith(phone, phone.slice(1)),
      (tables) => tables.length === 0,
    );
    // The stored responses to bot calls expire within a week; their user id no longer exists.
    expect(await tablesWith(account.id, stripe.kept.stripeId)).toEqual(['bot_calls']);
    expect((await eventTypesOf(phone)).at(-1)).toBe('user.deleted');
    const customer = await call(`${product.sandboxUrl}/stripe/customers/${phone}`);
    expect(customer['subscriptions'] ?? []).toEqual(
      expect.not.arrayContaining([expect.objectContaining({ status: 'active' })]),
    );
  });
});
