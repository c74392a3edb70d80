import { env } from 'cloudflare:workers';
import { expect, expectTypeOf, it } from 'vitest';
import type { canonicalPhone, PhoneNumber } from '../../worker/accounts/phone.ts';
import { endpoints, type Endpoint } from '../../worker/contract/endpoints.ts';
import type { Env } from '../../worker/env.ts';
import type { Handler } from '../../worker/http/request-context.ts';
import { type Answer, call, send } from './support/api.ts';
import { logLines } from './support/requests.ts';
import { newCode, newPhone, requestOtp, verifyOtp } from './support/person.ts';

it('names the deployed version in a header, and nothing of it in the body', async () => {
  const { VERSION } = env as unknown as Env;
  const response = await send('/api/health');
  expect(VERSION?.id).toMatch(/^[\da-f-]{36}$/);
  expect(response.headers.get('x-version')).toBe(VERSION?.id);
  expect(await response.json()).toEqual({ status: 'ok', checks: { database: 'ok' } });
});

it('describes every call of the table but those of support, with its body and every status it can answer', async () => {
  const { status, headers, body } = await call('GET', '/api/openapi.json');
  expect([status, headers.get('content-type'), body.openapi]).toEqual([200, 'application/json', '3.1.0']);
  const described = Object.entries(body.paths).flatMap(([path, operations]) =>
    Object.keys(operations as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
  // Only the owner's support command makes its calls, so the document leaves them out.
  const table = (Object.entries(endpoints) as [string, Endpoint][])
    .filter(([, { access }]) => access !== 'support')
    .map(([name, endpoint]) => ({ ...endpoint, name, path: endpoint.path.replaceAll(/:(\w+)/g, '{$1}') }));
  expect(described.toSorted()).toEqual(table.map(({ method, path }) => `${method} ${path}`).toSorted());
  for (const { name, method, path, input, access, whilePending } of table) {
    const operation = body.paths[path][method.toLowerCase()];
    expect(operation.operationId).toBe(name);
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['200', '500', '503']));
    if (input) expect(operation.requestBody.content['application/json'].schema.type).toBe('object');
    if (access === 'user' || access === 'bot') expect(operation.responses).toHaveProperty('401');
    if (access === 'user' && !whilePending) expect(operation.responses).toHaveProperty('403');
    if (access === 'bot') expect(operation.responses).toHaveProperty('409');
  }
  expect(body.paths['/api/bot/usage'].post.requestBody.content['application/json'].schema).toMatchObject({
    anyOf: [{ required: ['phone'] }, { required: ['businessUserId'] }],
    additionalProperties: false,
    properties: { count: { type: 'integer', minimum: 1, maximum: 100, default: 1 } },
  });
});

const lineOf = ({ headers }: Answer) =>
  logLines('request_completed').find(({ requestId }) => requestId === headers.get('x-request-id'));

it('writes one structured line per request, without personal data', async () => {
  const { phone, otp } = await newCode();
  const verified = await verifyOtp(phone, otp);
  const { token } = verified.body;
  const responses = [
    verified,
    await call('GET', '/api/user/me?secret=in-the-query', { token }),
    await call('GET', `/api/user/usage-stream?token=${token}x`),
    await verifyOtp(phone, otp),
    await requestOtp(phone),
    await requestOtp(newPhone()),
  ];

  const lines = responses.map((response) => lineOf(response)!);
  expect(lines[0]).toEqual({
    level: 'info',
    event: 'request_completed',
    requestId: expect.stringMatching(/^[\da-f-]{36}$/),
    method: 'POST',
    route: '/api/auth/verify-otp',
    status: 200,
    ms: expect.any(Number),
    databaseRequests: 1,
    phone: expect.stringMatching(/^[\da-f]{8}$/),
  });
  const tag = lines[0]!['phone'];
  expect(lines.slice(1).map(({ code, phone }) => [code, phone])).toEqual([
    [undefined, undefined],
    ['unauthenticated', undefined],
    ['invalid_code', tag],
    ['rate_limited', tag],
    [undefined, expect.not.stringMatching(tag as string)],
  ]);
  const all = JSON.stringify(logLines());
  for (const secret of [phone.slice(1), otp, token, 'in-the-query']) expect(all).not.toContain(secret);
});

/** `npm run types` checks these. */
it('compiles no handler that does not check its session, and no number that is not canonical', () => {
  type Answer = Promise<{ success: true; platform: 'web' }>;
  expectTypeOf<() => Answer>().not.toExtend<Handler<'getPlatform'>>();
  expectTypeOf<Handler<'getPlatform'>>().parameter(0).toHaveProperty('session');
  expectTypeOf<Handler<'requestOtp'>>().parameter(0).not.toHaveProperty('session');
  expectTypeOf<string>().not.toExtend<PhoneNumber>();
  expectTypeOf<typeof canonicalPhone>().returns.toEqualTypeOf<PhoneNumber>();
});
