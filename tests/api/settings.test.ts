import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import worker from '../../worker/index.ts';
import { type Answer, botHeaders, call, runCron, vars } from './support/api.ts';
import { outboxOf, run } from './support/sandbox.ts';
import { logLines } from './support/requests.ts';
import { newPerson } from './support/person.ts';

function expectTurnedOff({ status, body, headers }: Answer, setting: string): void {
  expect({ status, body }).toMatchObject({ status: 503, body: { success: false, code: 'unavailable' } });
  expect(headers.get('retry-after')).toBe('60');
  const line = { level: 'error', settings: [setting] };
  expect(logLines('settings_invalid')).toContainEqual(expect.objectContaining(line));
}

it.each([
  ['SITE_URL', 'paused'],
  ['SESSION_KEYS', ''],
  ['CODE_PEPPER', 'a-short-pepper'],
  ['CODE_PEPPER', `${'p'.repeat(32)} short`],
  ['CODE_PEPPER', `${'p'.repeat(32)} ${'p'.repeat(32)}`],
  ['SESSION_KEYS', `one:${'s'.repeat(43)} two:${'s'.repeat(43)}`],
  ['TURSO_DATABASE_URL', ''],
])('serves no call while %s is "%s"; the log names it and not its value', async (name, value) => {
  // A call that reached for the database would say that it is down.
  const settings = { TURSO_DATABASE_URL: 'http://127.0.0.1:9', [name]: value };
  expectTurnedOff(await call('GET', '/api/health', { settings }), name);
  if (value) expect(JSON.stringify(logLines())).not.toContain(value);
});

const signIn = '/api/auth/request-otp';
const buy = '/api/billing/create-subscription-update-session';

it.each([
  ['LIMIT_CODES_PER_NUMBER', '5/2d', signIn],
  ['LIMIT_CODES_PER_NUMBER', '5/1h 0/1d', signIn],
  ['CODE_BUDGET_PER_DAY', 'many', signIn],
  ['STRIPE_SECRET_KEY', 'pk_test_public', buy],
  ['STRIPE_API_BASE', 'stripe', buy],
  ['BOT_WEBHOOK_SECRET', 'whsec_c2hvcnQ=', '/api/bot/usage'],
  // A secret that is another one too.
  ['STRIPE_WEBHOOK_SECRET', vars.SESSION_KEYS!.split(/[: ]/)[1]!, '/api/webhooks/stripe'],
])('%s = "%s" turns off %s alone, and the log names it', async (name, value, path) => {
  const { phone, token } = await newPerson();
  const settings = { [name]: value };
  const body = { phone, tier: 'basic' };
  const seconds = Math.floor(Date.now() / 1000);
  const headers = { ...botHeaders(JSON.stringify(body)), 'stripe-signature': `t=${seconds},v1=0` };
  expectTurnedOff(await call('POST', path, { token, body, headers, settings }), name);
  expect((await call('GET', '/api/user/me', { token, settings })).status).toBe(200);
  expect((await call('GET', '/api/health', { settings })).status).toBe(200);
  expect(logLines('request_failed')).toEqual([]);
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

it('runs no scheduled task without its settings', async () => {
  const id = crypto.randomUUID();
  await run("insert into used_tokens values (?, 'by', 1)", id);
  const rows = async () => (await run('select 1 from used_tokens where id = ?', id)).rows;
  const ctx = createExecutionContext();
  const paused = { ...env, SITE_URL: 'paused' } as never;
  await worker.scheduled(createScheduledController({ cron: '* * * * *' }), paused, ctx);
  await waitOnExecutionContext(ctx);
  expect(await rows()).toHaveLength(1);
  await runCron();
  expect(await rows()).toHaveLength(0);
});
