import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { type PhoneNumber, canonicalPhone } from '../../worker/accounts/phone.ts';
import { endpoints, type Endpoint } from '../../worker/contract/endpoints.ts';
import type { Env } from '../../worker/env.ts';
import type { Handler } from '../../worker/http/request-context.ts';
import { type Answer, botCall, call, send } from './support/api.ts';
import { logLines } from './support/log.ts';
import { newPhone, requestOtp, verifyOtp } from './support/person.ts';
import { newestCode } from './support/sandbox.ts';

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
  const phone = newPhone();
  const address = '203.0.113.77';
  const contact = await botCall('/api/bot/contacts', { phone });
  const asked = await requestOtp(phone, address);
  const otp = await newestCode(phone);
  const verified = await verifyOtp(phone, otp, address);
  const { token } = verified.body;
  const responses = [
    contact,
    asked,
    verified,
    await call('GET', '/api/user/me?secret=in-the-query', { token }),
    await call('GET', `/api/user/usage-stream?token=${token}x`),
    await verifyOtp(phone, otp),
    await requestOtp(phone),
  ];

  const requests = responses.map(lineOf);
  const tag = requests[0]!['phone'];
  expect(tag).toMatch(/^[\da-f]{8}$/);
  expect(lineOf(await requestOtp(newPhone()))!['phone']).not.toBe(tag);
  expect(requests[2]).toEqual({
    level: 'info',
    event: 'request_completed',
    requestId: expect.stringMatching(/^[\da-f-]{36}$/),
    method: 'POST',
    route: '/api/auth/verify-otp',
    status: 200,
    ms: expect.any(Number),
    databaseRequests: 1,
    phone: tag,
  });
  expect(requests.slice(0, 4).filter((line) => !line || 'code' in line)).toEqual([]);
  const codes = requests.slice(4).map((line) => line?.['code']);
  expect(codes).toEqual(['unauthenticated', 'invalid_code', 'rate_limited']);
  const all = JSON.stringify(logLines());
  for (const secret of [phone, phone.slice(1), otp, token, 'in-the-query', address]) {
    expect(all).not.toContain(secret);
  }
});

/** The compiler checks this file: an error that is expected and does not occur fails `npm run types`. */
const checked: Handler<'getPlatform'> = ({ session }) =>
  session.run([], ({ platform }) => ({ success: true, platform }));

// @ts-expect-error A user's handler that responds without `session.run` does not compile.
const unchecked: Handler<'getPlatform'> = async () => ({ success: true, platform: 'web' });

// @ts-expect-error A public handler has no session.
const withoutUser: Handler<'requestOtp'> = async ({ session }) => session;

// @ts-expect-error A number is not canonical before `canonicalPhone` has made it so.
const raw: PhoneNumber = '+5215512345678';

it('makes canonical numbers in one place', () => {
  expect([checked, unchecked, withoutUser].every((handler) => typeof handler === 'function')).toBe(true);
  expect(canonicalPhone(raw)).toBe('+525512345678');
});
