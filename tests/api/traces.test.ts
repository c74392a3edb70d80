import { expect, it } from 'vitest';
import { botCall, call, hex, randomNetwork, runCron } from './support/api.ts';
import { consent, reply, untilReplied, write } from './support/chat.ts';
import { advanceClock, day, eventually, second } from './support/clock.ts';
import { columnsWith, deliveredEvents, sandbox } from './support/sandbox.ts';
import { logLines } from './support/requests.ts';
import {
  beginChange,
  claimNumber,
  deleteAccount,
  externalSession,
  newCode,
  newPhone,
  otherThan,
  redeem,
  requestOtp,
  verifyChange,
  verifyOtp,
} from './support/person.ts';
import { wholeObject } from './support/streams.ts';

const base64 = (text: string) => btoa(text).replace(/=+$/, '');

/** What gives a secret away: itself, and its hashes without a key, which anybody can compute for every number. */
async function signsOf(...secrets: string[]): Promise<string[]> {
  const subjects = ['codes', 'every-code', 'wrong-tries', 'codes-from', 'requests-from', 'tries-from'];
  const hashed = secrets.flatMap((secret) => [secret, ...subjects.map((subject) => `${subject}:${secret}`)]);
  const digests = hashed.flatMap((text) =>
    ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512', 'MD5'].map((algorithm) =>
      crypto.subtle.digest(algorithm, new TextEncoder().encode(text)),
    ),
  );
  const encoded = (await Promise.all(digests)).flatMap((bytes) => [
    hex(bytes),
    base64(String.fromCharCode(...new Uint8Array(bytes))),
  ]);
  return [...secrets, ...secrets.map(base64), ...encoded];
}

const numbersOf = (...phones: string[]) =>
  signsOf(...phones.flatMap((phone) => [phone, phone.slice(1), phone.slice(2)]));

/** Expects that nothing of the secrets stands in any column or in the log, which has lines about the paths. */
async function expectNoTraces(signs: string[], ...paths: string[]): Promise<void> {
  expect(await columnsWith(signs)).toEqual([]);
  const log = JSON.stringify(logLines());
  for (const path of paths) expect(log).toContain(path);
  for (const sign of signs) expect(log).not.toContain(sign);
}

const mayHoldNumber = ['aliases.value', 'users.phone', 'users.whatsapp_id'];

const network = randomNetwork();

it.each([
  // IPv4 addresses are counted as they are, those of IPv6 by their /64 and /48.
  ['203.0.113.77', ['203.0.113.77', '203.0.113.0', '203.0.113']],
  [`${network}:7:1:2:3:4`, [network, `${network}:7:1:2:3:4`, `${network}:7::/64`, `${network}::/48`]],
])('keeps a number only where it is needed, and the address %s nowhere', async (address, secrets) => {
  const phone = newPhone();
  const number = await numbersOf(phone);
  const code = await newCode(phone, { address });
  await verifyOtp(phone, otherThan(code.otp), address);
  await redeem(code, { address });
  await requestOtp(newPhone(), address);
  const token = await externalSession(phone);
  await deliveredEvents(phone);
  expect(await columnsWith(number)).toEqual(mayHoldNumber);

  await consent(token);
  await write(token, 'Hello');
  await untilReplied({ phone, token }, 1);
  await reply(phone, 'More', 'traces-1', { crisis: true });
  await botCall('/api/bot/trials', { phone });
  await call('GET', '/api/user/export', { token, address });
  await deliveredEvents(phone);
  expect(await columnsWith(number)).toEqual(mayHoldNumber);
  const object = await wholeObject(token);
  expect(object).toContain('traces-1');
  for (const sign of number) expect(object).not.toContain(sign);

  await newCode(phone, { address });
  expect(await columnsWith(number)).toEqual([...mayHoldNumber, 'challenges.phone', 'codes.phone'].toSorted());
  expect((await deleteAccount(token)).status).toBe(200);
  await deliveredEvents(phone);
  await expectNoTraces([...number, ...(await signsOf(...secrets))], '/api/auth/verify-otp');
});

it('keeps nothing of a link code, a change and a notice after the deletion, or 30 days after they were left', async () => {
  const address = `${randomNetwork()}:5:1:2:3:4`;
  const [asked, next, last, left] = [newPhone(), newPhone(), newPhone(), newPhone()];
  const { businessUserId, linkCode, otp } = await claimNumber(asked, address);
  const inRequests = ['challenges.phone', 'codes.phone', 'link_codes.phone', 'link_codes.whatsapp_id'];
  expect(await columnsWith(await numbersOf(asked))).toEqual(inRequests);
  const { token } = (await redeem({ phone: asked, otp, challenge: linkCode }, { address })).body;
  const { endpoint, keys } = await sandbox.newBrowser(asked);
  expect((await call('PUT', '/api/user/push', { token, address, body: { endpoint, keys } })).status).toBe(200);
  await consent(token);
  await reply(asked, 'You are heard');
  await eventually(async () => expect(await sandbox.notices(asked)).toHaveLength(1));
  const browser = [endpoint, keys.p256dh, keys.auth];
  const ofBrowser = ['push_subscriptions.auth', 'push_subscriptions.endpoint', 'push_subscriptions.p256dh'];
  expect(await columnsWith(browser)).toEqual(ofBrowser);

  const change = await beginChange(token, next, address);
  const ofChange = ['phone_changes.phone', 'phone_changes.whatsapp_id'];
  expect(await columnsWith(await numbersOf(next))).toEqual(ofChange);
  expect((await verifyChange(token, change, address)).status).toBe(200);
  await deliveredEvents(next);
  expect(await columnsWith(await numbersOf(asked))).toEqual([]);
  expect(await columnsWith(await numbersOf(next))).toEqual(mayHoldNumber);

  advanceClock(31 * second);
  await beginChange(token, last, address);
  const claim = await claimNumber(left, address);
  expect((await deleteAccount(token)).status).toBe(200);
  await deliveredEvents(next);
  const secrets = await signsOf(address, linkCode, businessUserId, ...browser);
  const signs = [...(await numbersOf(asked, next, last)), ...secrets];
  await expectNoTraces(signs, '/api/bot/contacts', '/api/user/phone/verify', '/api/user/push');

  const ofClaim = [...(await numbersOf(left)), ...(await signsOf(claim.linkCode, claim.businessUserId))];
  expect(await columnsWith(ofClaim)).toEqual([
    ...inRequests.slice(0, 2),
    'link_codes.claimed_by',
    ...inRequests.slice(2),
  ]);
  advanceClock(30 * day + 1);
  await runCron();
  await expectNoTraces(ofClaim, '/api/auth/request-otp');
});
