import { describe, expect, it } from 'vitest';
import { botCall, call } from './support/api.ts';
import { advanceClock, minute } from './support/clock.ts';
import { parallel } from './support/parallel.ts';
import { newPerson, newPhone } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';

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
    ['an old issue', { claims: { iat: Math.floor(Date.now() / 1000) - 400 } }],
    ['an issue in the future', { claims: { iat: Math.floor(Date.now() / 1000) + 400 } }],
    ['a beginning in the future', { claims: { nbf: Math.floor(Date.now() / 1000) + 400 } }],
  ])('with %s is refused', async (_, body) => {
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
