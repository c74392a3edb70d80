import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { call, product } from '../shared-product.ts';
import { newSubscriber, setFault, signIn } from './subscriber.ts';
import { support, supportJson, supportProcess } from './support-command.ts';

it('shows account, plan, week, limits, sessions, events and payments, as text and as JSON', async () => {
  const phone = await newSubscriber();
  const found = await supportJson('find', phone);
  expect(found).toMatchObject({
    account: { phone, status: 'approved', platform: 'whatsapp' },
    plan: { tier: 'premium', subscription: 'basic', trial: { tier: 'premium' } },
    // The first paid week has just started.
    week: { used: 0, limit: expect.any(Number) },
    limits: { nextCodeAt: expect.stringMatching(/^\d{4}-/) },
    payments: { state: 'known', subscriptions: [{ status: 'active' }], returned: [] },
  });
  expect(found['sessions']).toHaveLength(2);
  expect(found['lastBotCalls'].length).toBeGreaterThan(0);
  expect(found['advice'].join()).toContain('Sign-in is limited');
  const { code, stdout } = await supportProcess('find', phone);
  expect(code).toBe(0);
  for (const part of [phone, 'Plan:', 'Week:', 'Limits:', 'Disputes and refunds:']) expect(stdout).toContain(part);
});

it('names a disputed payment', async () => {
  const phone = await newSubscriber();
  await call(`${product.sandboxUrl}/stripe/customers/${phone}/dispute`, 'POST');
  const found = await supportJson('find', phone);
  expect(found['payments'].returned).toMatchObject([{ disputes: [expect.any(String)] }]);
  expect(found['advice'].join()).toContain('disputed');
});

it('shows what is kept here when Stripe does not respond', async () => {
  const phone = await newSubscriber();
  await setFault('stripe', { status: 500 });
  const found = await supportJson('find', phone);
  await setFault('stripe', null);
  expect(found).toMatchObject({ account: { phone }, payments: { state: 'Stripe does not respond' } });
});

it('never shows the conversation', async () => {
  const phone = await newSubscriber();
  const token = await signIn(phone);
  const text = `Something private ${randomInt(1_000_000)}`;
  await call(`${product.siteUrl}/api/user/chat/consent`, 'PUT', { version: '1' }, token);
  await call(`${product.sandboxUrl}/bot/mode`, 'PUT', { mode: 'refuse' });
  await call(`${product.siteUrl}/api/user/chat/messages`, 'POST', { id: crypto.randomUUID(), text }, token);
  await call(`${product.sandboxUrl}/bot/mode`, 'PUT', { mode: 'answer' });
  const printed = [
    await support('find', phone),
    await support('find', phone, '--json'),
    await support('outbox', '--json'),
  ];
  expect(printed[0]!.stdout).toMatch(/Chat:\s+consent 1/);
  expect(printed.map(({ stdout, stderr }) => stdout + stderr).join()).not.toContain(text);
});

it('says when nobody has the number, and asks for the country code', async () => {
  expect(await support('find', '+15550000000')).toMatchObject({ code: 1, stderr: 'Nobody has this number.\n' });
  expect(await support('find', '5551234567')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('country code'),
  });
});
