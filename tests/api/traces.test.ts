import { expect, it } from 'vitest';
import { botCall, call, randomNetwork } from './support/api.ts';
import { consent, reply, untilReplied, write } from './support/chat.ts';
import { everyValue } from './support/database.ts';
import { logLines } from './support/log.ts';
import { deleteAccount, externalSession, newPhone, otherThan, requestOtp, verifyOtp } from './support/person.ts';
import { deliveredEvents, newestCode } from './support/sandbox.ts';
import { wholeObject } from './support/streams.ts';

const hex = (bytes: ArrayBuffer) =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const base64 = (bytes: ArrayBuffer) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/=+$/, '');

/** What gives a secret away: itself, and its hashes without a key, which anybody can compute for every number. */
async function signsOf(...secrets: string[]): Promise<string[]> {
  const limited = ['codes', 'every-code', 'wrong-tries', 'codes-from', 'requests-from', 'tries-from'];
  const hashed = secrets.flatMap((secret) => [secret, ...limited.map((prefix) => `${prefix}:${secret}`)]);
  const digests = await Promise.all(
    hashed.flatMap((text) =>
      ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512', 'MD5'].map((algorithm) =>
        crypto.subtle.digest(algorithm, new TextEncoder().encode(text)),
      ),
    ),
  );
  const encoded = digests.flatMap((bytes) => [hex(bytes), base64(bytes)]);
  return [...secrets, ...secrets.map((secret) => btoa(secret).replace(/=+$/, '')), ...encoded];
}

/** The columns of the database in which one of the signs stands. */
async function columnsWith(signs: string[]): Promise<string[]> {
  const values = await everyValue();
  const found = values.filter(({ text }) => signs.some((sign) => text.includes(sign)));
  return [...new Set(found.map(({ column }) => column))].toSorted();
}

/** Signs in with a wrong try before, without and with its challenge, and as an external user. */
async function signIn(phone: string, address: string): Promise<string> {
  const { body } = await requestOtp(phone, address);
  const otp = await newestCode(phone);
  await verifyOtp(phone, otherThan(otp), address);
  const attempt = { phone, otp, challenge: body.challenge };
  await call('POST', '/api/auth/verify-otp', { body: attempt, address });
  await requestOtp(newPhone(), address);
  return externalSession(phone);
}

/** IPv4 addresses are counted as they are, those of IPv6 by their /64 and /48. */
const network = randomNetwork();
const addresses: [address: string, secrets: string[]][] = [
  ['203.0.113.77', ['203.0.113.77', '203.0.113.0', '203.0.113']],
  [`${network}:7:1:2:3:4`, [network, `${network}:7:1:2:3:4`, `${network}:7::/64`, `${network}::/48`]],
];

it.each(addresses)('keeps a number only where it is needed, and the address %s nowhere', async (address, secrets) => {
  const phone = newPhone();
  const number = await signsOf(phone, phone.slice(1), phone.slice(2));
  await botCall('/api/bot/contacts', { phone });
  const token = await signIn(phone, address);
  const mayStandIn = ['users.phone', 'users.whatsapp_id'];
  await deliveredEvents(phone);
  expect(await columnsWith(number)).toEqual(mayStandIn);

  await consent(token);
  await write(token, 'Hello');
  await untilReplied({ phone, address, token }, 1);
  await reply(phone, 'More', 'traces-1', { crisis: true });
  await botCall('/api/bot/trials', { phone });
  await call('GET', '/api/user/export', { token, address });
  await deliveredEvents(phone);
  expect(await columnsWith(number)).toEqual(mayStandIn);
  const object = await wholeObject(token);
  expect(object).toContain('traces-1');
  for (const sign of number) expect(object).not.toContain(sign);

  await botCall('/api/bot/contacts', { phone });
  await requestOtp(phone, address);
  expect(await columnsWith(number)).toEqual(['challenges.phone', 'codes.phone', ...mayStandIn]);
  expect((await deleteAccount(token)).status).toBe(200);
  await deliveredEvents(phone);
  expect(await columnsWith(number)).toEqual([]);
  expect(await columnsWith(await signsOf(...secrets))).toEqual([]);
  const log = JSON.stringify(logLines());
  expect(log).toContain('/api/auth/verify-otp');
  for (const sign of [...number, ...secrets]) expect(log).not.toContain(sign);
});
