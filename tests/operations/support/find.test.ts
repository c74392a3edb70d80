import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { call, product } from '../shared-product.ts';
import { database } from './stored-rows.ts';
import { newSubscriber, setFault, signIn } from './subscriber.ts';
import { auditLines, auditText, ownerProcess, support, supportJson, supportProcess } from './support-command.ts';

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

it('cannot be made to command the terminal by what a user stored', async () => {
  const phone = await newSubscriber();
  const hostile = 'v1\u001b]0;owned\u0007\u009b2J\u202e\r\nPlan: platinum';
  await database.execute({
    sql: 'update users set chat_consent_at = 1, chat_consent_version = ? where phone = ?',
    args: [hostile, phone],
  });
  const shown = 'v1\\u001b]0;owned\\u0007\\u009b2J\\u202e\\u000d\\u000aPlan: platinum';
  expect((await supportProcess('find', phone)).stdout).toContain(`consent ${shown} of`);
  const query = `select chat_consent_version as version from users where phone = '${phone}'`;
  const printed = [
    await supportProcess('find', phone, '--json'),
    await supportProcess(`\u001b[2J`),
    await ownerProcess('report/query-command.ts', query),
  ];
  for (const { stdout, stderr } of printed) expect(stdout + stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
});

it('leaves an audit line for each look at a user, by `find` and by `query`', async () => {
  const phone = await newSubscriber();
  await supportProcess('find', phone);
  expect(auditLines().at(-1)).toMatchObject({
    command: 'find',
    about: expect.stringMatching(/^[\da-f]{8}$/),
    outcome: 'done',
  });
  const tag = auditLines().at(-1)!.about;
  const { code } = await ownerProcess('report/query-command.ts', `select tier from users where phone = '${phone}'`);
  expect(code).toBe(0);
  expect(auditLines().at(-1)).toMatchObject({
    command: 'query',
    about: `select tier from users where phone = '${tag}'`,
    outcome: 'done',
  });
  expect(auditText()).not.toContain(phone.slice(1));
});

it('says when nobody has the number, and asks for the country code', async () => {
  expect(await support('find', '+15550000000')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Nobody has this number\.$/m),
  });
  expect(await support('find', '5551234567')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('country code'),
  });
});
