import { describe, expect, it } from 'vitest';
import { botCall, call, randomAddress, randomNetwork, vars, parallel } from './support/api.ts';
import { advanceClock, day, minute, second } from './support/clock.ts';
import {
  newContact,
  newPerson,
  newPhone,
  receiveCode,
  otherThan,
  requestOtp,
  tryTwentyTimes,
  verifyOtp,
} from './support/person.ts';
import { sandbox } from './support/sandbox.ts';

describe('requesting a code', () => {
  it('sends one WhatsApp message to somebody who has written', async () => {
    const { phone } = await newContact();
    const { status, body } = await requestOtp(phone);
    expect({ status, body }).toMatchObject({ status: 200, body: { success: true, requiresInitialContact: false } });
    const messages = await sandbox.messages(phone);
    expect(messages).toHaveLength(1);
    expect(messages[0]!.code).toMatch(/^\d{6}$/);
  });

  it('sends nothing to a number that never wrote', async () => {
    const phone = newPhone();
    const { status, body } = await requestOtp(phone);
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: false, requiresInitialContact: true, message: expect.any(String) });
    expect(await sandbox.messages(phone)).toEqual([]);
  });

  it('waits 30 seconds between two codes, and says how long', async () => {
    advanceClock(0);
    const { phone } = await newContact();
    await requestOtp(phone);
    advanceClock(12 * second);
    const { status, headers, body } = await requestOtp(phone);
    expect(status).toBe(429);
    expect(body).toMatchObject({ success: false, code: 'rate_limited' });
    expect(headers.get('retry-after')).toBe('18');
    advanceClock(17 * second);
    expect((await requestOtp(phone)).status).toBe(429);
    advanceClock(second);
    expect((await requestOtp(phone)).status).toBe(200);
  });

  it('sends five codes an hour and ten a day', async () => {
    advanceClock(0);
    const { phone } = await newContact();
    const statuses: number[] = [];
    for (let tries = 0; tries < 12; tries += 1) {
      statuses.push((await requestOtp(phone)).status);
      advanceClock(tries === 5 ? 61 * minute : 31 * second);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 200, 200, 200, 200, 200, 429]);
    const { headers } = await requestOtp(phone);
    const wait = Number(headers.get('retry-after'));
    expect(wait).toBeGreaterThan((day - 3 * 60 * minute) / second);
    advanceClock(wait * second);
    expect((await requestOtp(phone)).status).toBe(200);
  });

  it('sends one code to fifty parallel callers', async () => {
    const { phone } = await newContact();
    const answers = await parallel(50, () => requestOtp(phone));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await sandbox.messages(phone)).toHaveLength(1);
  });

  it('allows 60 requests an hour from one address, for any numbers', async () => {
    const address = randomAddress();
    const answers = await parallel(65, () => requestOtp(newPhone(), address));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
    expect((await requestOtp(newPhone())).status).toBe(200);
  });

  it('sends 20 codes an hour for one address, counting an IPv6 by its /64', async () => {
    advanceClock(0);
    const contacts = await parallel(22, () => newContact());
    const network = randomNetwork();
    const answers = await parallel(22, (index) => requestOtp(contacts[index]!.phone, `${network}:2::${index}`));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.headers.get('retry-after')).toBe('3600');
  });
});

describe('verifying a code', () => {
  it('opens a session with a three-part token that knows no phone number', async () => {
    // The session begins and its token is issued within one second.
    advanceClock(0);
    const { phone, token } = await newPerson();
    const [header, payload] = token.split('.').map((part) => part && decodeJson(part));
    expect(token.split('.')).toHaveLength(3);
    expect(header).toMatchObject({ alg: 'HS256', kid: 'new' });
    expect(Object.keys(payload).toSorted()).toEqual(['exp', 'iat', 'sid', 'sub']);
    expect(payload.exp - payload.iat).toBe(30 * 86_400);
    expect(JSON.stringify(payload)).not.toContain(phone.slice(1));
    const { body } = await call('GET', '/api/user/me', { token });
    expect(body.profile).toMatchObject({ phoneNumber: phone, status: 'approved', isTrial: false });
  });

  it('signs in once for fifty parallel right tries', async () => {
    const contact = await newContact();
    const otp = await receiveCode(contact);
    const answers = await parallel(50, () => verifyOtp(contact.phone, otp));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === 'invalid_code')).toHaveLength(49);
  });

  it('counts five of fifty parallel wrong tries, after which the right code is invalid', async () => {
    const contact = await newContact();
    const otp = await receiveCode(contact);
    const answers = await parallel(50, () => verifyOtp(contact.phone, otherThan(otp)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 401, body: { code: 'invalid_code' } });
    expect((await verifyOtp(contact.phone, otp)).status).toBe(401);
  });

  it('refuses wrong, used, expired and never sent codes with the same bytes', async () => {
    const [wrong, used, expired] = [await newContact(), await newContact(), await newContact()];
    const codes = [await receiveCode(wrong), await receiveCode(used), await receiveCode(expired)];
    await verifyOtp(used.phone, codes[1]!);
    const answers = [
      await verifyOtp(wrong.phone, otherThan(codes[0]!)),
      await verifyOtp(used.phone, codes[1]!),
      await verifyOtp(newPhone(), '123456'),
    ];
    advanceClock(5 * minute + second);
    answers.push(await verifyOtp(expired.phone, codes[2]!));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set(['401 {"success":false,"code":"invalid_code","message":"Invalid code. Please try again."}']),
    );
  });

  it('ends the older code with a newer one', async () => {
    const contact = await newContact();
    const older = await receiveCode(contact);
    advanceClock(31 * second);
    const newer = await receiveCode(contact);
    // Two codes are equal once in a million times.
    if (older !== newer) expect((await verifyOtp(contact.phone, older)).status).toBe(401);
    expect((await verifyOtp(contact.phone, newer)).status).toBe(200);
  });

  it('allows 20 wrong tries a day for one number', async () => {
    advanceClock(0);
    const contact = await newContact();
    await tryTwentyTimes(contact);
    const { status, headers } = await requestOtp(contact.phone);
    expect([status, headers.get('retry-after')]).toEqual([429, String(86_400 - 4 * 31)]);
  });

  it('allows 60 tries in 5 minutes of one address', async () => {
    const address = randomAddress();
    const answers = await parallel(65, () => verifyOtp(newPhone(), '123456', address));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(60);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
  });
});

describe('while the pepper is rotated', () => {
  it('takes a code that was sent under the previous one', async () => {
    const contact = await newContact();
    const otp = await receiveCode(contact);
    const verifyWith = (CODE_PEPPER: string) =>
      call('POST', '/api/auth/verify-otp', { body: { phone: contact.phone, otp }, settings: { CODE_PEPPER } });
    expect((await verifyWith('another-pepper-of-thirty-two-bytes')).status).toBe(401);
    expect((await verifyWith(`another-pepper-of-thirty-two-bytes ${vars.CODE_PEPPER}`)).status).toBe(200);
  });
});

describe('one person, two spellings', () => {
  it.each([
    ['+5215512345678', '+525512345678'],
    ['+5491123456789', '+541123456789'],
    ['+551187654321', '+5511987654321'],
  ])('takes %s and %s for the same', async (spelledByWhatsapp, dialled) => {
    const salt = String(Math.floor(Math.random() * 1e5)).padStart(5, '0');
    const [theirs, ours] = [spelledByWhatsapp.slice(0, -5) + salt, dialled.slice(0, -5) + salt];
    await botCall('/api/bot/contacts', { phone: theirs, whatsappId: theirs.slice(1) });
    expect((await requestOtp(ours)).body).toMatchObject({ success: true, requiresInitialContact: false });
    const [message] = await sandbox.messages(theirs);
    expect((await verifyOtp(ours, message!.code!)).status).toBe(200);
  });
});

function decodeJson(part: string) {
  const bytes = Uint8Array.from(atob(part.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

const verify = (token: string, settings?: Record<string, string>) =>
  call('POST', '/api/auth/verify-external-token', { body: { token }, ...(settings && { settings }) });
const tokenFor = async (phone: string, body: object = {}) => (await sandbox.externalToken(phone, body)).token;
const invalid = { success: false, code: 'invalid_token', message: 'Invalid or expired token' };

describe('a token of the external issuer', () => {
  it('makes a new number a free user who has not written yet', async () => {
    const phone = newPhone();
    const { status, body } = await verify(await tokenFor(phone));
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, status: 'approved', user: { phoneNumber: phone } });
    expect(body.user.metadata.subscriptionTier).toBe('free');
    expect((await call('GET', '/api/user/me', { token: body.token })).body.profile).toEqual(body.user);
    const code = await call('POST', '/api/auth/request-otp', { body: { phone } });
    expect(code.body).toMatchObject({ requiresInitialContact: true });
    expect((await botCall('/api/bot/usage', { phone })).body).toMatchObject({ allowed: false });
    await botCall('/api/bot/contacts', { phone });
    expect((await botCall('/api/bot/usage', { phone })).body).toMatchObject({ allowed: true, used: 1 });
  });

  it('finds the user who is known already', async () => {
    const { phone, token } = await newPerson();
    await botCall('/api/bot/usage', { phone });
    const { body } = await verify(await tokenFor(phone));
    expect(body.user.messagesUsedThisPeriod).toBe(1);
    expect(body.token).not.toBe(token);
  });

  it('is accepted once by fifty parallel callers', async () => {
    const token = await tokenFor(newPhone());
    const answers = await parallel(50, () => verify(token));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.find(({ status }) => status !== 200)).toMatchObject({ status: 401, body: invalid });
  });

  it.each([
    ['another issuer', { claims: { iss: 'https://evil.example' } }],
    ['another audience', { claims: { aud: 'elsewhere' } }],
    ['no verified number', { claims: { phone_number_verified: false } }],
    ['a truthy word for verified', { claims: { phone_number_verified: 'true' } }],
    ['no number', { claims: { phone_number: null } }],
    ['a number that is none', { claims: { phone_number: '12345' } }],
    ['no jti', { claims: { jti: null } }],
    ['no subject', { claims: { sub: null } }],
    ['an expiry that has passed', { claims: { exp: 1_700_000_000 } }],
  ])('with %s is refused', async (_, body) => {
    expect(await verify(await tokenFor(newPhone(), body))).toMatchObject({ status: 401, body: invalid });
  });

  it.each([
    ['an old issue', 'iat', -400],
    ['an issue in the future', 'iat', 400],
    ['a beginning in the future', 'nbf', 400],
  ])('with %s is refused', async (_, claim, seconds) => {
    const body = { claims: { [claim]: Math.floor(Date.now() / 1000) + seconds } };
    expect(await verify(await tokenFor(newPhone(), body))).toMatchObject({ status: 401, body: invalid });
  });

  it.each([null, 'jwt', 'application/jwt'])('may leave its type out or spell it otherwise: %s', async (typ) => {
    expect((await verify(await tokenFor(newPhone(), { typ }))).status).toBe(200);
  });

  it.each(['at+jwt', 'logout+jwt', 'session+jwt'])('of the type %s is refused', async (typ) => {
    expect(await verify(await tokenFor(newPhone(), { typ }))).toMatchObject({ status: 401, body: invalid });
  });

  it.each(['EXTERNAL_TOKEN_ISSUER', 'EXTERNAL_TOKEN_AUDIENCE', 'EXTERNAL_TOKEN_JWKS_URL'])(
    'is 404 without %s, and everything else works',
    async (name) => {
      const answer = await verify(await tokenFor(newPhone()), { [name]: '' });
      expect(answer).toMatchObject({ status: 404, body: { success: false, code: 'not_found' } });
      expect((await call('GET', '/api/health', { settings: { [name]: '' } })).status).toBe(200);
    },
  );

  it('is refused after five minutes, forged, unsigned, or signed with the wrong kind of key', async () => {
    const token = await tokenFor(newPhone(), { expiresIn: 3600 });
    const [header, payload, signature] = token.split('.') as [string, string, string];
    const none = btoa(JSON.stringify({ alg: 'none', typ: 'JWT' })).replaceAll('=', '');
    const forged = [
      `${none}.${payload}.`,
      `${header}.${payload}.${signature.slice(4)}AAAA`,
      'x',
      'a.b.c',
      `${token}.x`,
    ];
    for (const bad of forged) expect(await verify(bad)).toMatchObject({ status: 401, body: invalid });
    advanceClock(6 * minute);
    expect(await verify(token)).toMatchObject({ status: 401, body: invalid });
  });

  it('is 503 while the issuer does not respond', async () => {
    const settings = { EXTERNAL_TOKEN_JWKS_URL: 'http://127.0.0.1:9/jwks.json' };
    const answer = await verify(await tokenFor(newPhone()), settings);
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  });
});
