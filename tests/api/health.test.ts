import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import type { Env } from '../../worker/env.ts';
import { send } from './support/api.ts';

it('names the deployed version in a header, and nothing of it in the body', async () => {
  const { VERSION } = env as unknown as Env;
  const response = await send('/api/health');
  expect(VERSION?.id).toMatch(/^[\da-f-]{36}$/);
  expect(response.headers.get('x-version')).toBe(VERSION?.id);
  expect(await response.json()).toEqual({ status: 'ok', checks: { database: 'ok' } });
});
