import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import worker from '../../worker/index.ts';
import { call, vars } from './support/api.ts';
import { database } from './support/database.ts';
import { newPerson } from './support/person.ts';
import { costOf } from './support/sandbox.ts';

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
  const lines: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((line) => lines.push(line));
  const { result, stats } = await costOf(() => call('GET', '/api/health', { settings: { [name]: value } }));
  expect(result.status).toBe(503);
  expect(result.body).toMatchObject({ success: false, code: 'unavailable' });
  expect(result.headers.get('retry-after')).toBe('60');
  expect(stats.libsql).toBe(0);
  expect(lines.map((line) => JSON.parse(line))).toContainEqual({
    level: 'error',
    event: 'settings_invalid',
    settings: [name],
  });
  if (value) expect(lines.join()).not.toContain(value);
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
    const lines: string[] = [];
    vi.spyOn(console, 'error').mockImplementation((line) => lines.push(line));
    const settings = { [name]: value };
    const body = path === signIn[1] ? { phone } : { tier: 'basic' };
    const refused = await call(method, path, { token, body, settings });
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(refused.headers.get('retry-after')).toBe('60');
    expect((await call('GET', '/api/user/me', { token, settings })).status).toBe(200);
    expect((await call('GET', '/api/health', { settings })).status).toBe(200);
    const named = { level: 'error', event: 'settings_invalid', settings: [name] };
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(named);
    expect(lines.filter((line) => line.includes('"unexpected"'))).toEqual([]);
  });

  it('turns off the calls of the bot while its secret is wrong', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const { token } = await newPerson();
    const settings = { BOT_WEBHOOK_SECRET: 'whsec_c2hvcnQ=' };
    const refused = await call('POST', '/api/bot/usage', { body: { phone: '+15551234567' }, settings });
    expect(refused.status).toBe(503);
    expect((await call('GET', '/api/user/me', { token, settings })).status).toBe(200);
  });

  it('turns off a secret that is another one too', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const headers = { 'stripe-signature': `t=${Math.floor(Date.now() / 1000)},v1=00` };
    const settings = { STRIPE_WEBHOOK_SECRET: vars.SESSION_KEYS!.split(/[: ]/)[1]! };
    expect((await call('POST', '/api/webhooks/stripe', { body: {}, headers, settings })).status).toBe(503);
    expect((await call('GET', '/api/health', { settings })).status).toBe(200);
  });

  it('keeps the events for the bot while its address is malformed', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
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
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const ctx = createExecutionContext();
  const paused = { ...env, SITE_URL: 'paused' } as never;
  const { stats } = await costOf(async () => {
    await worker.scheduled(createScheduledController({ cron: '* * * * *' }), paused, ctx);
    await waitOnExecutionContext(ctx);
  });
  expect(Object.values(stats).every((requests) => requests === 0)).toBe(true);
});
