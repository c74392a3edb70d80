import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { endpoints, type Endpoint } from '../../worker/contract/endpoints.ts';
import { botHeaders, call, send, vars } from './support/api.ts';
import { advanceClock, day, minute } from './support/clock.ts';
import { newPerson } from './support/person.ts';
import { OpenStream } from './support/streams.ts';
import { recordingOf, sendRecording } from './support/chat.ts';

const table = Object.entries(endpoints) as [string, Endpoint][];
const ofUsers = table.filter(([, { access }]) => access === 'user');
const ofBot = table.filter(([, { access }]) => access === 'bot');
const unauthenticated = { success: false, code: 'unauthenticated', message: 'Please log in to continue' };

const bodies: Record<string, object> = {
  'PUT /api/user/platform': { platform: 'web' },
  'POST /api/user/phone': { phone: '+15550001111' },
  'POST /api/user/phone/verify': { phone: '+15550001111', otp: '123456', challenge: 'challenge' },
  'POST /api/user/chat/messages': { id: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6', text: 'Hello' },
  'PUT /api/user/push': {
    endpoint: 'https://fcm.googleapis.com/fcm/send/1',
    keys: { p256dh: `B${'A'.repeat(86)}`, auth: 'A'.repeat(22) },
  },
  'DELETE /api/user/push': { endpoint: 'https://fcm.googleapis.com/fcm/send/1' },
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

async function sign(claims: object, header: object, secret: string) {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'HS256', ...header })
    .sign(new TextEncoder().encode(secret));
}

describe.each(ofUsers)('%s', (_, endpoint) => {
  it('refuses without a token', async () => {
    const { status, body, headers } = await callWith(endpoint);
    expect({ status, body }).toEqual({ status: 401, body: unauthenticated });
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });

  it('refuses tokens that are forged, unsigned, expired, of another kind, or of an ended session', async () => {
    const { token } = await newPerson();
    const claims = JSON.parse(atob(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')));
    const [header, payload, signature] = token.split('.') as [string, string, string];
    const bad = [
      'x',
      `${header}.${payload}.`,
      `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
      `${btoa('{"alg":"none","typ":"session+jwt","kid":"new"}').replaceAll('=', '')}.${payload}.`,
      await sign(claims, { typ: 'session+jwt', kid: 'new' }, 'a secret that is not ours at all!'),
      await sign(claims, { typ: 'session+jwt', kid: '__proto__' }, 'a secret that is not ours at all!'),
    ];
    if (!endpoint.tokenInQuery) bad.push((await call('POST', '/api/user/stream-ticket', { token })).body.ticket);
    for (const forged of bad) expect((await callWith(endpoint, forged)).status).toBe(401);
    await call('POST', '/api/auth/logout', { token });
    expect((await callWith(endpoint, token)).body).toEqual(unauthenticated);
  });

  it('refuses a session after its thirty days', async () => {
    const { token } = await newPerson();
    advanceClock(30 * day + minute);
    expect((await callWith(endpoint, token)).status).toBe(401);
  });

  it('refuses a pending account with 403 unless the endpoint is open to it', async () => {
    const { phone, token } = await newPerson();
    await send('/api/bot/approvals', botRequest({ phone, status: 'pending' }));
    if (endpoint.whilePending) return;
    const { status, body } = await callWith(endpoint, token);
    expect({ status, body }).toEqual({
      status: 403,
      body: { success: false, code: 'pending_approval', message: 'Your account is awaiting approval.' },
    });
  });
});

describe.each(ofBot)('%s', (_, { path }) => {
  const body = JSON.stringify({ phone: '+15550001111', status: 'approved' });
  const refused = { success: false, code: 'invalid_signature', message: 'Invalid signature' };
  const attempt = async (headers: Record<string, string>, text = body) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text };
    const response = await send(path, init);
    return { status: response.status, body: await response.json() };
  };

  it("refuses calls without the bot's signature", async () => {
    const headers = botHeaders(body);
    const old = botHeaders(body, undefined, new Date(Date.now() - 6 * minute));
    const future = botHeaders(body, undefined, new Date(Date.now() + 6 * minute));
    const attempts = [
      attempt({}),
      attempt({ ...headers, 'webhook-signature': 'v1,AAAA' }),
      attempt({ ...headers, 'webhook-id': 'another' }),
      attempt({ ...headers, 'webhook-timestamp': `${headers['webhook-timestamp']}abc` }),
      attempt(headers, `${body} `),
      attempt(old),
      attempt(future),
      attempt(botHeaders(body, undefined, new Date(), 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=')),
      attempt({ authorization: `Bearer ${(await newPerson()).token}` }),
    ];
    for (const answer of await Promise.all(attempts)) expect(answer).toEqual({ status: 401, body: refused });
  });

  it('takes a signature by either secret while one is rotated', async () => {
    const next = 'whsec_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB=';
    const settings = { BOT_WEBHOOK_SECRET: `${next} ${vars.BOT_WEBHOOK_SECRET}` };
    for (const secret of [next, vars.BOT_WEBHOOK_SECRET!]) {
      const headers = botHeaders(body, undefined, new Date(), secret);
      const { status } = await call('POST', path, { headers, body: JSON.parse(body), settings });
      expect(status).not.toBe(401);
    }
  });
});

it('routes nothing outside the table', async () => {
  const known = new Set(table.map(([, { method, path }]) => `${method} ${path}`));
  for (const path of new Set(table.map(([, endpoint]) => endpoint.path))) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) {
      if (known.has(`${method} ${path}`)) continue;
      expect((await call(method, path)).status, `${method} ${path}`).toBe(405);
    }
  }
});

it('keeps everybody signed in while the session keys rotate', async () => {
  const { token } = await newPerson();
  const fresh = 'CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC';
  const rotated = { SESSION_KEYS: `newest:${fresh} ${vars.SESSION_KEYS}` };
  expect((await call('GET', '/api/user/me', { token, settings: rotated })).status).toBe(200);
  expect((await call('GET', '/api/user/me', { token, settings: { SESSION_KEYS: `newest:${fresh}` } })).status).toBe(
    401,
  );
});

it('opens no stream for a session that ended while it was being opened', async () => {
  const { token } = await newPerson();
  const [stream] = await Promise.all([OpenStream.open(token), call('POST', '/api/auth/logout', { token })]);
  if (stream.status === 200) await stream.until(({ ended }) => ended);
  expect([200, 401]).toContain(stream.status);
});

function botRequest(body: object): RequestInit {
  const text = JSON.stringify(body);
  return { method: 'POST', headers: { 'content-type': 'application/json', ...botHeaders(text) }, body: text };
}
