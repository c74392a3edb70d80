import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { send } from './support/api.ts';

it('names the deployed version in a header, and nothing of it in the body', async () => {
  const response = await send('/api/health');
  expect(response.headers.get('x-version')).toBe(env.VERSION?.id);
  expect(env.VERSION?.id).toMatch(/^[\da-f-]{36}$/);
  expect(await response.json()).toEqual({ status: 'ok', checks: { database: 'ok' } });
});
