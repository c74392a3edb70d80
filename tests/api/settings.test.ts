import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import worker from '../../worker/index.ts';
import { botCall, call, vars, runCron } from './support/api.ts';
import { database } from './support/database.ts';
import { logLines } from './support/log.ts';
import { newPerson } from './support/person.ts';

const wrong = [
  ['SITE_URL', 'paused'],
  ['SESSION_KEYS', ''],
  ['CODE_PEPPER', 'a-short-pepper'],
  ['CODE_PEPPER', `${'p'.repeat(32)} short`],
  ['CODE_PEPPER', `${'p'.repeat(32)} ${'p'.repeat(32)}`],
  ['SESSION_KEYS', `one:${'s'.repeat(43)} two:${'s'.repeat(43)}`],
  ['TURSO_DATABASE_URL', ''],
] as const;

it.each(wrong)('serves no call while %s is "%s"; the log names it and not its value', async (name, value) => {
  // A call that reached for the database would say that it is down.
  const settings = { TURSO_DATABASE_URL: 'http://127.0.0.1:9', [name]: value };
  const result = await call('GET', '/api/health', { settings });
  expect(result.status).toBe(503);
  expect(result.body).toMatchObject({ success: false, code: 'unavailable' });
  expect(result.headers.get('retry-after')).toBe('60');
  expect(logLines('settings_invalid')).toContainEqual(expect.objectContaining({ level: 'error', settings: [name] }));
  if (value) expect(JSON.stringify(logLines())).not.toContain(value);
});

describe('a wrong setting of one feature', () => {
  const signIn = ['POST', '/api/auth/request-otp'] as const;
  const buy = ['POST', '/api/billing/create-subscription-update-session'] as const;
  const cases = [
    ['LIMIT_CODES_PER_NUMBER', '5/2d', signIn],
    ['LIMIT_CODES_PER_NUMBER', '5/1h 0/1d', signIn],
    ['CODE_TRIES', '0', signIn],
    ['CODE_LIFETIME_SECONDS', '0', signIn],
    ['CODE_BUDGET_PER_DAY', 'many', signIn],
    ['STRIPE_SECRET_KEY', 'pk_test_public', buy],
    ['STRIPE_API_BASE', 'stripe', buy],
  ] as const;

  it.each(cases)('%s = "%s" turns off %s alone, and the log names it', async (name, value, [method, path]) => {
    const { phone, token } = await newPerson();
    const settings = { [name]: value };
    const body = path === signIn[1] ? { phone } : { tier: 'basic' };
    const refused = await call(method, path, { token, body, settings });
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(refused.headers.get('retry-after')).toBe('60');
    expect((await call('GET', '/api/user/me', { token, settings })).status).toBe(200);
    expect((await call('GET', '/api/health', { settings })).status).toBe(200);
    expect(logLines('settings_invalid')).toContainEqual(expect.objectContaining({ level: 'error', settings: [name] }));
    expect(logLines('request_failed')).toEqual([]);
  });

  it('turns off the calls of the bot while its secret is wrong', async () => {
    const { token } = await newPerson();
    const settings = { BOT_WEBHOOK_SECRET: 'whsec_c2hvcnQ=' };
    const refused = await botCall('/api/bot/usage', { phone: '+15551234567' }, crypto.randomUUID(), settings);
    expect(refused.status).toBe(503);
    expect((await call('GET', '/api/user/me', { token, settings })).status).toBe(200);
  });

  it('turns off a secret that is another one too', async () => {
    const headers = { 'stripe-signature': `t=${Math.floor(Date.now() / 1000)},v1=00` };
    const settings = { STRIPE_WEBHOOK_SECRET: vars.SESSION_KEYS!.split(/[: ]/)[1]! };
    expect((await call('POST', '/api/webhooks/stripe', { body: {}, headers, settings })).status).toBe(503);
    expect((await call('GET', '/api/health', { settings })).status).toBe(200);
  });

  it('keeps the events for the bot while its address is malformed', async () => {
    const { phone, token } = await newPerson();
    const settings = { BOT_WEBHOOK_URL: 'the bot' };
    const chosen = await call('PUT', '/api/user/platform', { token, body: { platform: 'web' }, settings });
    expect(chosen.status).toBe(200);
    const kept = await database.execute({ sql: 'select 1 from outbox where phone = ?', args: [phone] });
    expect(kept.rows).toHaveLength(1);
  });
});

it('writes no events for the bot, and answers 404 to external tokens, where both are left out', async () => {
  const { phone, token } = await newPerson();
  const settings = { BOT_WEBHOOK_URL: '', EXTERNAL_TOKEN_ISSUER: '' };
  const chosen = await call('PUT', '/api/user/platform', { token, body: { platform: 'web' }, settings });
  expect(chosen.status).toBe(200);
  const kept = await database.execute({ sql: 'select 1 from outbox where phone = ?', args: [phone] });
  expect(kept.rows).toHaveLength(0);
  const external = await call('POST', '/api/auth/verify-external-token', { body: { token: 'a.b.c' }, settings });
  expect(external).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

it('runs no scheduled task without its settings', async () => {
  const id = crypto.randomUUID();
  await database.execute({ sql: 'insert into used_tokens values (?, ?, 1)', args: [id, 'by'] });
  const rows = async () => (await database.execute({ sql: 'select 1 from used_tokens where id = ?', args: [id] })).rows;
  const ctx = createExecutionContext();
  const paused = { ...env, SITE_URL: 'paused' } as never;
  await worker.scheduled(createScheduledController({ cron: '* * * * *' }), paused, ctx);
  await waitOnExecutionContext(ctx);
  expect(await rows()).toHaveLength(1);
  await runCron();
  expect(await rows()).toHaveLength(0);
});
