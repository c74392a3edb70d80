import { beforeEach, expect, it, vi } from 'vitest';
import { botCall, call } from './support/api.ts';
import { newPhone, receiveCode } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';

const lines: string[] = [];

beforeEach(() => {
  lines.length = 0;
  for (const method of ['log', 'error'] as const)
    vi.spyOn(console, method).mockImplementation((line) => lines.push(line));
});

it('writes one structured line per request, without personal data', async () => {
  const phone = newPhone();
  await botCall('/api/bot/contacts', { phone });
  const contact = { phone, address: '203.0.113.77' };
  const otp = await receiveCode(contact);
  const { body } = await call('POST', '/api/auth/verify-otp', { body: { phone, otp }, address: contact.address });
  await call('GET', '/api/user/me?secret=in-the-query', { token: body.token });
  await call('GET', `/api/user/usage-stream?token=${body.token}x`);
  await call('POST', '/api/auth/verify-otp', { body: { phone, otp } });
  await sandbox.faults({ whatsapp: { status: 500 } });
  await call('POST', '/api/auth/request-otp', { body: { phone } });

  const requests = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request_completed');
  expect(requests).toHaveLength(7);
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
  expect(requests.map(({ code }) => code)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    'unauthenticated',
    'invalid_code',
    'rate_limited',
  ]);
  const all = lines.join('\n');
  for (const secret of [phone, phone.slice(1), otp, body.token, 'in-the-query', contact.address]) {
    expect(all).not.toContain(secret);
  }
});

it('marks a number by the same tag each time, and another number by another', async () => {
  const [one, other] = [newPhone(), newPhone()];
  for (const phone of [one, other, one, other]) await botCall('/api/bot/entitlements', { phone });
  const tags = lines.map((line) => JSON.parse(line).phone as string);
  expect(tags).toHaveLength(4);
  expect(tags.slice(2)).toEqual(tags.slice(0, 2));
  expect(tags[0]).not.toBe(tags[1]);
});
