import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import worker from '../../worker/index.ts';
import { call } from './support/api.ts';
import { costOf } from './support/sandbox.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it.each([
  ['SITE_URL', 'paused'],
  ['SESSION_KEYS', ''],
  ['STRIPE_SECRET_KEY', 'pk_test_public'],
  ['BOT_WEBHOOK_SECRET', 'whsec_not-base64'],
  ['LIMIT_CODES_PER_NUMBER', '5/2d'],
])('refuses to serve, and asks nobody, while %s is "%s"; the log names it and not its value', async (name, value) => {
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

it('does no chores without its settings', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const ctx = createExecutionContext();
  const paused = { ...env, SITE_URL: 'paused' } as never;
  const { stats } = await costOf(async () => {
    await worker.scheduled(createScheduledController({ cron: '* * * * *' }), paused, ctx);
    await waitOnExecutionContext(ctx);
  });
  expect(Object.values(stats).every((requests) => requests === 0)).toBe(true);
});
