import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import worker from '../../worker/index.ts';
import { type Answer, botCall, call, runCron, vars } from './support/api.ts';
import { database } from './support/database.ts';
import { logLines } from './support/log.ts';
import { newPerson } from './support/person.ts';
import { outboxOf } from './support/sandbox.ts';

const wrong = [
  ['SITE_URL', 'paused'],
  ['SESSION_KEYS', ''],
  ['CODE_PEPPER', 'a-short-pepper'],
  ['CODE_PEPPER', `${'p'.repeat(32)} short`],
  ['CODE_PEPPER', `${'p'.repeat(32)} ${'p'.repeat(32)}`],
  ['SESSION_KEYS', `one:${'s'.repeat(43)} two:${'s'.repeat(43)}`],
  ['TURSO_DATABASE_URL', ''],
] as const;

function expectTurnedOff({ status, body, headers }: Answer, setting: string): void {
  expect({ status, body }).toMatchObject({ status: 503, body: { success: false, code: 'unavailable' } });
  expect(headers.get('retry-after')).toBe('60');
  const line = { level: 'error', settings: [setting] };
  expect(logLines('settings_invalid')).toContainEqual(expect.objectContaining(line));
}

const statusWith = async (settings: Record<string, string>, path = '/api/health', token?: string) =>
  (await call('GET', path, { token, settings })).status;

it.each(wrong)('serves no call while %s is "%s"; the log names it and not its value', async (name, value) => {
  // A call that reached for the database would say that it is down.
  const settings = { TURSO_DATABASE_URL: 'http://127.0.0.1:9', [name]: value };
  expectTurnedOff(await call('GET', '/api/health', { settings }), name);
  if (value) expect(JSON.stringify(logLines())).not.toContain(value);
});

describe('a wrong setting of one feature', () => {
  const signIn = '/api/auth/request-otp';
  const buy = '/api/billing/create-subscription-update-session';

  it.each([
    ['LIMIT_CODES_PER_NUMBER', '5/2d', signIn],
    ['LIMIT_CODES_PER_NUMBER', '5/1h 0/1d', signIn],
    ['CODE_TRIES', '0', signIn],
    ['CODE_LIFETIME_SECONDS', '0', signIn],
    ['CODE_BUDGET_PER_DAY', 'many', signIn],
    ['STRIPE_SECRET_KEY', 'pk_test_public', buy],
    ['STRIPE_API_BASE', 'stripe', buy],
  ])('%s = "%s" turns off %s alone, and the log names it', async (name, value, path) => {
    const { phone, token } = await newPerson();
    const settings = { [name]: value };
    expectTurnedOff(await call('POST', path, { token, body: { phone, tier: 'basic' }, settings }), name);
    expect(await statusWith(settings, '/api/user/me', token)).toBe(200);
    expect(await statusWith(settings)).toBe(200);
    expect(logLines('request_failed')).toEqual([]);
  });

  it('turns off the calls of the bot while its secret is wrong', async () => {
    const settings = { BOT_WEBHOOK_SECRET: 'whsec_c2hvcnQ=' };
    const refused = await botCall('/api/bot/usage', { phone: '+15551234567' }, crypto.randomUUID(), settings);
    expect(refused.status).toBe(503);
    expect(await statusWith(settings, '/api/user/me', (await newPerson()).token)).toBe(200);
  });

  it('turns off a secret that is another one too', async () => {
    const headers = { 'stripe-signature': `t=${Math.floor(Date.now() / 1000)},v1=00` };
    const settings = { STRIPE_WEBHOOK_SECRET: vars.SESSION_KEYS!.split(/[: ]/)[1]! };
    expect((await call('POST', '/api/webhooks/stripe', { body: {}, headers, settings })).status).toBe(503);
    expect(await statusWith(settings)).toBe(200);
  });
});

it('keeps the events for the bot while its address is malformed, and writes none where it is left out', async () => {
  const calls = [
    ['PUT', '/api/user/platform'],
    ['DELETE', '/api/user/me'],
  ] as const;
  for (const BOT_WEBHOOK_URL of ['the bot', '']) {
    const { phone, token } = await newPerson();
    const choice = { token, body: { platform: 'web' }, settings: { BOT_WEBHOOK_URL } };
    for (const [method, path] of calls) {
      expect((await call(method, path, choice)).status).toBe(200);
      expect(await outboxOf(phone)).toHaveLength(BOT_WEBHOOK_URL ? 1 : 0);
    }
  }
});

it('answers 404 to external tokens where their issuer is left out', async () => {
  const settings = { EXTERNAL_TOKEN_ISSUER: '' };
  const external = await call('POST', '/api/auth/verify-external-token', { body: { token: 'a.b.c' }, settings });
  expect(external).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

it('runs no scheduled task without its settings', async () => {
  const id = crypto.randomUUID();
  await database.execute('insert into used_tokens values (?, ?, 1)', [id, 'by']);
  const rows = async () => (await database.execute('select 1 from used_tokens where id = ?', [id])).rows;
  const ctx = createExecutionContext();
  const paused = { ...env, SITE_URL: 'paused' } as never;
  await worker.scheduled(createScheduledController({ cron: '* * * * *' }), paused, ctx);
  await waitOnExecutionContext(ctx);
  expect(await rows()).toHaveLength(1);
  await runCron();
  expect(await rows()).toHaveLength(0);
});
