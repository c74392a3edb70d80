import { decodeJwt, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { endpoints, type Endpoint } from '../../worker/contract/endpoints.ts';
import { botCall, botHeaders, call } from './support/api.ts';
import { newWriter, readChat, recordingOf, sendRecording, write } from './support/chat.ts';
import { advanceClock, day, minute } from './support/clock.ts';
import { logOut, newPerson, trialSession } from './support/person.ts';
import { OpenStream } from './support/streams.ts';

const table = Object.entries(endpoints) as [string, Endpoint][];
const ofUsers = table.filter(([, { access }]) => access === 'user');
const ofBot = table.filter(([, { access }]) => access === 'bot');
const unauthenticated = { success: false, code: 'unauthenticated', message: 'Please log in to continue' };

const phone = '+15550001111';
const push = 'https://fcm.googleapis.com/fcm/send/1';
const bodies: Record<string, object> = {
  'PUT /api/user/platform': { platform: 'web' },
  'POST /api/user/phone': { phone },
  'POST /api/user/phone/verify': { phone, otp: '123456', challenge: 'challenge' },
  'POST /api/user/chat/messages': { id: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6', text: 'Hello' },
  'PUT /api/user/push': { endpoint: push, keys: { p256dh: `B${'A'.repeat(86)}`, auth: 'A'.repeat(22) } },
  'DELETE /api/user/push': { endpoint: push },
  'PUT /api/user/chat/consent': { version: '1' },
  'POST /api/billing/cancel-reason': { reason: 'price' },
  'POST /api/billing/verify-and-update-checkout-session': { sessionId: 'cs_test_1' },
};

/** A valid user call, with the token where this endpoint expects it. */
function callWith({ method, path, tokenInQuery, recording }: Endpoint, token?: string) {
  if (recording) return sendRecording(token, recordingOf('audio/webm'));
  if (tokenInQuery) return call(method, token === undefined ? path : `${path}?token=${token}`);
  return call(method, path, { token, body: bodies[`${method} ${path}`] });
}

/** Claims of a session, signed with a secret that is not ours. */
const forge = (claims: object, kid: string) =>
  new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'session+jwt', kid })
    .sign(new TextEncoder().encode('a secret that is not ours at all!'));

describe.each(ofUsers)('%s', (_, endpoint) => {
  it('refuses no token, and tokens that are forged, unsigned, of another kind, or of an ended session', async () => {
    const without = await callWith(endpoint);
    expect([without.status, without.body]).toEqual([401, unauthenticated]);
    expect(without.headers.get('www-authenticate')).toBe('Bearer');
    const { token } = await newPerson();
    const claims = decodeJwt(token);
    const [header, payload, signature] = token.split('.') as [string, string, string];
    const bad = [
      'x',
      `${header}.${payload}.`,
      `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
      `${btoa('{"alg":"none","typ":"session+jwt","kid":"new"}').replaceAll('=', '')}.${payload}.`,
      await forge(claims, 'new'),
      await forge(claims, '__proto__'),
    ];
    if (!endpoint.tokenInQuery) bad.push((await call('POST', '/api/user/stream-ticket', { token })).body.ticket);
    for (const forged of bad) expect((await callWith(endpoint, forged)).status).toBe(401);
    await logOut(token);
    expect((await callWith(endpoint, token)).body).toEqual(unauthenticated);
  });

  it('refuses a session after its thirty days', async () => {
    const { token } = await newPerson();
    advanceClock(30 * day + minute);
    expect((await callWith(endpoint, token)).status).toBe(401);
  });
});

it.each(ofUsers.filter(([, { whilePending }]) => !whilePending))(
  '%s refuses a pending account',
  async (_, endpoint) => {
    const person = await newPerson();
    await botCall('/api/bot/approvals', { phone: person.phone, status: 'pending' });
    expect(await callWith(endpoint, person.token)).toMatchObject({
      status: 403,
      body: { success: false, code: 'pending_approval', message: 'Your account is awaiting approval.' },
    });
  },
);

describe.each(ofBot)('%s', (_, { path }) => {
  const text = JSON.stringify({ phone, status: 'approved' });
  const signed = (at?: Date, secret?: string) => botHeaders(text, undefined, at, secret);

  it("refuses calls without the bot's signature", async () => {
    const right = signed();
    const attempts: [headers: Record<string, string>, text?: string][] = [
      [{}],
      [{ ...right, 'webhook-signature': 'v1,AAAA' }],
      [{ ...right, 'webhook-id': 'another' }],
      [{ ...right, 'webhook-timestamp': `${right['webhook-timestamp']}abc` }],
      [right, `${text} `],
      [signed(new Date(Date.now() - 6 * minute))],
      [signed(new Date(Date.now() + 6 * minute))],
      [signed(undefined, 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=')],
      [{ authorization: `Bearer ${(await newPerson()).token}` }],
    ];
    const body = { success: false, code: 'invalid_signature', message: 'Invalid signature' };
    for (const [headers, sent = text] of attempts)
      expect(await call('POST', path, { headers, text: sent })).toMatchObject({ status: 401, body });
  });
});

it('shows, writes and ends nothing that is private by the session of a trial link', async () => {
  const owner = await newWriter();
  await write(owner.token, 'Something private');
  const token = await trialSession(owner.phone);
  const profile = ['logout', 'getMe', 'getPlatform', 'putPlatform', 'streamTicket', 'usageStream'];
  const plan = ['createSubscriptionUpdateSession', 'getSubscription', 'giveCancelReason', 'verifyCheckoutSession'];
  const signInNeeded = {
    status: 403,
    body: { success: false, code: 'sign_in_needed', message: 'Please sign in with a code to see this.' },
  };
  const refused = ofUsers.filter(([name]) => ![...profile, ...plan].includes(name));
  for (const [name, endpoint] of refused) expect(await callWith(endpoint, token), name).toMatchObject(signInNeeded);
  expect(await call('POST', '/api/auth/logout', { token, body: { everywhere: true } })).toMatchObject(signInNeeded);
  const { messages, consent } = await readChat(owner.token);
  expect([messages.length, consent!.version]).toEqual([1, '2026-11']);
  expect((await call('GET', '/api/user/sessions', { token: owner.token })).body.sessions).toHaveLength(2);
});

it('routes nothing outside the table, and says which methods are allowed', async () => {
  for (const [path, known] of Map.groupBy(table, ([, endpoint]) => endpoint.path)) {
    const methods = known.map(([, { method }]) => method);
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) {
      if (methods.some((each) => each === method)) continue;
      const { status, body, headers } = await call(method, path);
      const refusal = [status, body.code, headers.get('allow')];
      expect(refusal, `${method} ${path}`).toEqual([405, 'method_not_allowed', methods.join(', ')]);
    }
  }
});

it('opens no stream for a session that ended while it was being opened', async () => {
  const { token } = await newPerson();
  const [stream] = await Promise.all([OpenStream.open(token), logOut(token)]);
  if (stream.status === 200) await stream.until(({ ended }) => ended);
  expect([200, 401]).toContain(stream.status);
});
