import { expect, it } from 'vitest';
import { botCall, call, type Answer } from './support/api.ts';
import { logLines } from './support/log.ts';
import { newPhone } from './support/person.ts';
import { newestCode } from './support/sandbox.ts';

const lineOf = ({ headers }: Answer) =>
  logLines('request_completed').find(({ requestId }) => requestId === headers.get('x-request-id'));

it('writes one structured line per request, without personal data', async () => {
  const phone = newPhone();
  const address = '203.0.113.77';
  const contact = await botCall('/api/bot/contacts', { phone });
  const asked = await call('POST', '/api/auth/request-otp', { body: { phone }, address });
  const otp = await newestCode(phone);
  const verified = await call('POST', '/api/auth/verify-otp', { body: { phone, otp }, address });
  const { token } = verified.body;
  const responses = [
    contact,
    asked,
    verified,
    await call('GET', '/api/user/me?secret=in-the-query', { token }),
    await call('GET', `/api/user/usage-stream?token=${token}x`),
    await call('POST', '/api/auth/verify-otp', { body: { phone, otp } }),
    await call('POST', '/api/auth/request-otp', { body: { phone } }),
  ];

  const requests = responses.map(lineOf);
  expect(requests[2]).toEqual({
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
  expect(requests.map((line) => line?.['code'])).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    'unauthenticated',
    'invalid_code',
    'rate_limited',
  ]);
  const all = JSON.stringify(logLines());
  for (const secret of [phone, phone.slice(1), otp, token, 'in-the-query', address]) {
    expect(all).not.toContain(secret);
  }
});

it('marks a number by the same tag each time, and another number by another', async () => {
  const [one, other] = [newPhone(), newPhone()];
  const tags: unknown[] = [];
  for (const phone of [one, other, one, other])
    tags.push(lineOf(await botCall('/api/bot/entitlements', { phone }))?.['phone']);
  expect(tags[0]).toMatch(/^[\da-f]{8}$/);
  expect(tags.slice(2)).toEqual(tags.slice(0, 2));
  expect(tags[0]).not.toBe(tags[1]);
});
