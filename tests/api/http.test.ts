import { decodeJwt, SignJWT } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { consentVersion } from '../../worker/contract/chat-limits.ts';
import { type Endpoint, endpoints } from '../../worker/contract/endpoints.ts';
import { botCall, botHeaders, call, send, invalidField } from './support/api.ts';
import { newWriter, readChat, write } from './support/chat.ts';
import { bytesOf, recordingOf, sendRecording } from './support/voice.ts';
import { advanceClock, day, minute } from './support/clock.ts';
import { newContact, newPhone } from './support/contacts.ts';
import { logOut, newPerson, trialSession, userOf } from './support/person.ts';
import { costOf, logLines, startHeld } from './support/requests.ts';
import { OpenStream, ticketOf } from './support/streams.ts';

const phone = '+15550001111';
const path = '/api/auth/request-otp';
const post = async (body: BodyInit, contentType: string | null = 'application/json') => {
  const headers = contentType ? { 'content-type': contentType } : {};
  const response = await send(path, {
    method: 'POST',
    headers,
    body,
  });
  return {
    status: response.status,
    body: await response.json<Record<string, unknown>>(),
  };
};

describe('a body', () => {
  it.each<[what: string, body: BodyInit]>([
    ['not JSON at all', '{phone'],
    ['a null character', '\0'],
    ['empty', ''],
    ['an array', '[]'],
    ['a string', '"+15551234567"'],
    ['null', 'null'],
    ['with a byte order mark', '\uFEFF{"phone":"+15551234567"}'],
    ['nested beyond reason', '['.repeat(8000)],
    ['of invalid UTF-8', bytesOf('{"phone":"\xff\xfe"}')],
  ])('that is %s is 400 invalid_body', async (_, body) => {
    const problem = {
      success: false,
      code: 'invalid_body',
      message: 'Invalid request body',
    };
    expect(await post(body)).toEqual({ status: 400, body: problem });
  });

  it.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/json; charset=latin1', 415],
    [null, 415],
    ['application/json; charset=utf-8', 200],
    ['Application/JSON;charset="UTF-8"', 200],
  ])('sent as %s responds %i', async (contentType, status) => {
    const answer = await post(bytesOf(JSON.stringify({ phone: newPhone() })), contentType);
    const problem = {
      code: 'not_json',
      message: 'Content-Type must be application/json',
    };
    expect(answer).toMatchObject({
      status,
      body: status === 415 ? problem : { requiresInitialContact: true },
    });
  });

  it('over 16 KiB is 413, with a length and without', async () => {
    const problem = {
      success: false,
      code: 'body_too_large',
      message: 'Request body too large',
    };
    const large = JSON.stringify({ phone: 'x'.repeat(1024 * 1024) });
    for (const body of [large, new Blob([large]).stream() as unknown as BodyInit])
      expect(await post(body)).toEqual({ status: 413, body: problem });
  });

  it('whose sender hangs up is 400, with a length and without, and no unexpected error', async () => {
    for (const { readable, writable } of [
      new FixedLengthStream(64),
      new IdentityTransformStream(),
    ]) {
      const sent = post(readable);
      await writable.abort(new Error('Network connection lost.'));
      expect(await sent).toMatchObject({
        status: 400,
        body: { code: 'invalid_body' },
      });
    }
    expect(logLines('request_failed')).toEqual([]);
  });
});

describe('a field', () => {
  const short = 'Phone number must be at least 10 digits';
  const national = 'Please include country code (e.g., +1234567890)';
  const length = 'OTP must be exactly 6 digits';
  const digits = 'OTP must contain only numbers';

  it.each([
    ['request-otp', {}, 'phone', short],
    ['request-otp', { phone: 15551234567 }, 'phone', short],
    ['request-otp', { phone: '+1555123' }, 'phone', short],
    ['request-otp', { phone: '15551234567' }, 'phone', national],
    ['request-otp', { phone: '+05551234567' }, 'phone', national],
    ['request-otp', { phone: '+1555123456789012' }, 'phone', national],
    ['request-otp', { phone: '+1555 123 4567 ext. 8' }, 'phone', national],
    ['request-otp', { phone: '+1555 CALL-ME' }, 'phone', national],
    ['request-otp', { phone: { $ne: 1 } }, 'phone', short],
    ['request-otp', JSON.parse('{"__proto__":{"phone":"+15551234567"}}'), 'phone', short],
    ['verify-otp', { phone, otp: '12345' }, 'otp', length],
    ['verify-otp', { phone, otp: '1234567' }, 'otp', length],
    ['verify-otp', { phone, otp: '12345a' }, 'otp', digits],
    ['verify-otp', { phone, otp: '١٢٣٤٥' }, 'otp', length],
  ])('of %s %o is refused with its own sentence', async (name, body, field, message) => {
    const problem = {
      success: false,
      code: 'invalid_field',
      message,
      issues: [{ path: field, message }],
    };
    expect(await call('POST', `/api/auth/${name}`, { body })).toMatchObject({
      status: 400,
      body: problem,
    });
  });

  it('that nobody knows is ignored from users and refused from the bot, as is a count that is none', async () => {
    const contact = await newContact();
    expect(
      (
        await call('POST', path, {
          body: {
            phone: contact.phone,
            colour: 'green',
          },
        })
      ).status,
    ).toBe(200);
    const unknown = {
      code: 'invalid_field',
      issues: [{ path: 'colour', message: 'Unknown field colour' }],
    };
    const refused = await botCall('/api/bot/usage', {
      phone,
      colour: 'green',
    });
    expect(refused).toMatchObject({ status: 400, body: unknown });
    const message = 'count must be a whole number from 1 to 100';
    for (const count of [0, 101, 1.5, '1', null])
      expect(
        await botCall('/api/bot/usage', {
          phone,
          count,
        }),
      ).toMatchObject({
        status: 400,
        body: { message },
      });
  });
});

it('names a field whose rule has no sentence, without the words of a library', async () => {
  const listed = await call('POST', '/api/auth/verify-otp', {
    body: { phone, otp: '123456', challenge: [] },
  });
  expect(listed.body).toMatchObject({ message: 'challenge is not valid' });
  const spelled = await botCall('/api/bot/contacts', {
    phone,
    whatsappId: null,
  });
  expect(spelled.body).toMatchObject({
    code: 'invalid_field',
    issues: [{ path: 'whatsappId', message: 'whatsappId is not valid' }],
  });
});

it('responds 404 as JSON to every other address', async () => {
  const body = {
    success: false,
    code: 'not_found',
    message: 'Not found',
  };
  for (const part of ['', '/', '/nothing', '/user/me/', '/%zz', '/user/../nothing', '/bot'])
    expect(await call('GET', `/api${part}`), part).toMatchObject({
      status: 404,
      body,
    });
});

it('lets in other origins that are listed, with credentials for the stream alone', async () => {
  const preflight = async (origin: string, to: string) => {
    const headers = { origin, 'access-control-request-method': 'POST' };
    const settings = { WEB_ORIGINS: 'https://app.example https://b.example' };
    const response = await call('OPTIONS', to, { headers, settings });
    const granted = (what: string) => response.headers.get(`access-control-allow-${what}`);
    const [from, names, credentials] = ['origin', 'headers', 'credentials'].map(granted);
    return {
      status: response.status,
      vary: response.headers.get('vary'),
      from,
      names,
      credentials,
    };
  };
  const names = expect.stringContaining('authorization');
  const listed = { status: 204, from: 'https://app.example', names };
  expect(await preflight('https://app.example', path)).toMatchObject({
    ...listed,
    credentials: null,
  });
  const stream = await preflight('https://app.example', '/api/user/usage-stream');
  expect(stream).toMatchObject({ ...listed, credentials: 'true' });
  expect(await preflight('https://evil.example', path)).toMatchObject({
    from: null,
    vary: 'Origin',
  });
});

it('lets listed origins read the 404 of an unknown path, and no other one', async () => {
  const settings = { WEB_ORIGINS: 'https://app.example' };
  const allowed = async (method: string, origin: string) => {
    const headers = { origin, 'access-control-request-method': 'DELETE' };
    const { status, headers: sent } = await call(method, '/api/nothing', {
      headers,
      settings,
    });
    return [status, sent.get('access-control-allow-origin')];
  };
  expect(await allowed('GET', 'https://app.example')).toEqual([404, 'https://app.example']);
  expect(await allowed('OPTIONS', 'https://app.example')).toEqual([204, 'https://app.example']);
  expect(await allowed('GET', 'https://evil.example')).toEqual([404, null]);
});

it.each([
  ['DELETE', '/api/user/push', { endpoint: 'https://fcm.googleapis.com/\ud800' }, 'endpoint'],
  ['POST', '/api/billing/withdrawal/objection', { id: 'a\udc00' }, 'id'],
])('%s %s refuses half of a surrogate pair, which no database takes', async (...asked) => {
  const [method, to, body, field] = asked;
  const { token } = await newPerson();
  expect(
    await call(method, to, {
      token,
      body,
    }),
  ).toMatchObject(invalidField(field));
});

/** The headers of every API response. */
const always = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  date: expect.stringMatching(/ GMT$/),
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  vary: 'Origin',
  'x-content-type-options': 'nosniff',
};

it('has the same headers on every kind of response, and no response affects the next', async () => {
  const { token } = await newPerson();
  const granted = [
    'access-control-allow-headers',
    'access-control-allow-methods',
    'access-control-max-age',
  ];
  const answers: [answer: Response, own: string[], other?: object][] = [
    [await send('/api/user/me'), ['content-type', 'www-authenticate']],
    [await send('/api/health', { method: 'PUT' }), ['allow', 'content-type']],
    [
      await send('/api/user/me', { headers: { authorization: `Bearer ${token}` } }),
      ['content-type'],
    ],
    [
      await send('/api/user/me', {
        method: 'OPTIONS',
        headers: { origin: 'https://app.example' },
      }),
      granted,
    ],
    [
      await send(`/api/user/usage-stream?token=${token}`),
      ['content-type', 'x-accel-buffering'],
      { 'cache-control': 'no-store, no-transform' },
    ],
    [await send('/api/nothing'), ['content-type']],
  ];
  const ids = new Set<string>();
  for (const [answer, own, other] of answers) {
    const {
      'x-request-id': id,
      'content-length': _,
      ...headers
    } = Object.fromEntries(answer.headers);
    expect(headers).toMatchObject({ ...always, ...other });
    expect(Object.keys(headers).toSorted()).toEqual([...Object.keys(always), ...own].toSorted());
    expect(id).toMatch(/^[\da-f-]{36}$/);
    ids.add(id!);
    await answer.body?.cancel();
  }
  expect(ids.size).toBe(answers.length);
});

it('says where the connection comes from, and asks the database for nothing', async () => {
  for (const header of ['NZ', 'XX', 'T1', 'nz', '<b>', '']) {
    const response = await send('/api/country', { headers: { 'cf-ipcountry': header } });
    expect(await response.json()).toEqual({
      success: true,
      country: header === 'NZ' ? 'NZ' : null,
    });
    expect(costOf(response)).toBe(0);
  }
});

const table = Object.entries(endpoints) as [string, Endpoint][];
const ofUsers = table.filter(([, { access }]) => access === 'user');
const ofBot = table.filter(([, { access }]) => access === 'bot');
const unauthenticated = {
  success: false,
  code: 'unauthenticated',
  message: 'Please log in to continue',
};

const push = 'https://fcm.googleapis.com/fcm/send/1';
const bodies: Record<string, object> = {
  'PUT /api/user/platform': { platform: 'web' },
  'POST /api/user/phone': { phone },
  'POST /api/user/phone/verify': {
    phone,
    otp: '123456',
    challenge: 'challenge',
  },
  'POST /api/user/chat/messages': {
    id: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6',
    text: 'Hello',
  },
  'PUT /api/user/push': {
    endpoint: push,
    keys: { p256dh: `B${'A'.repeat(86)}`, auth: 'A'.repeat(22) },
  },
  'DELETE /api/user/push': { endpoint: push },
  'PUT /api/user/chat/consent': { version: consentVersion },
  'POST /api/billing/cancel-reason': { reason: 'price' },
  'POST /api/billing/verify-and-update-checkout-session': { sessionId: 'cs_test_1' },
  'POST /api/billing/withdrawal/objection': { id: 'statement' },
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
    if (!endpoint.tokenInQuery) bad.push(await ticketOf(token));
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

const ofApproved = ofUsers.filter(([, { whilePending }]) => !whilePending);

it.each(ofApproved)('%s refuses a pending account', async (_, endpoint) => {
  const person = await newPerson();
  await botCall('/api/bot/approvals', {
    phone: person.phone,
    status: 'pending',
  });
  const body = {
    success: false,
    code: 'pending_approval',
    message: 'Your account is awaiting approval.',
  };
  expect(await callWith(endpoint, person.token)).toMatchObject({
    status: 403,
    body,
  });
});

it.each(ofBot)("%s refuses calls without the bot's signature", async (_, { path }) => {
  const text = JSON.stringify({ phone, status: 'approved' });
  const signed = (at?: Date, secret?: string) => botHeaders(text, undefined, at, secret);
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
  const body = {
    success: false,
    code: 'invalid_signature',
    message: 'Invalid signature',
  };
  for (const [headers, sent = text] of attempts)
    expect(
      await call('POST', path, {
        headers,
        text: sent,
      }),
    ).toMatchObject({
      status: 401,
      body,
    });
});

it('tells the bot whose call is signed rightly at a wrong time what time it is, and nobody else', async () => {
  const text = JSON.stringify({ phone });
  const path = '/api/bot/entitlements';
  const refusal = {
    success: false,
    code: 'invalid_signature',
    message: 'Invalid signature',
  };
  for (const minutes of [-6, 6, -6000]) {
    const at = new Date(Date.now() + minutes * minute);
    const lines = vi.spyOn(console, 'error').mockReturnValue();
    const { status, body } = await call('POST', path, {
      headers: botHeaders(text, undefined, at),
      text,
    });
    expect(status).toBe(401);
    expect(body).toEqual({ ...refusal, serverTime: expect.any(String) });
    expect(Math.abs(Date.parse(body.serverTime) - Date.now())).toBeLessThan(minute);
    expect(lines.mock.calls.flat().join()).toContain('"event":"bot_refused","reason":"time"');
    lines.mockRestore();
    const wrong = botHeaders(
      text,
      undefined,
      at,
      'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
    );
    expect(
      (
        await call('POST', path, {
          headers: wrong,
          text,
        })
      ).body,
    ).toEqual(refusal);
  }
});

it('shows, writes and ends nothing that is private by the session of a trial link', async () => {
  const owner = await newWriter();
  await write(owner.token, 'Something private');
  const token = await trialSession(owner.phone);
  const profile = ['logout', 'getMe', 'getPlatform', 'putPlatform', 'streamTicket', 'usageStream'];
  const plan = [
    'createSubscriptionUpdateSession',
    'getSubscription',
    'giveCancelReason',
    'verifyCheckoutSession',
  ];
  const message = 'Please sign in with a code to see this.';
  const signInNeeded = {
    status: 403,
    body: {
      success: false,
      code: 'sign_in_needed',
      message,
    },
  };
  const refused = ofUsers.filter(([name]) => ![...profile, ...plan].includes(name));
  for (const [name, endpoint] of refused)
    expect(await callWith(endpoint, token), name).toMatchObject(signInNeeded);
  expect(
    await call('POST', '/api/auth/logout', {
      token,
      body: { everywhere: true },
    }),
  ).toMatchObject(signInNeeded);
  const { messages, consent } = await readChat(owner.token);
  expect([messages.length, consent!.version]).toEqual([1, consentVersion]);
  expect(
    (await call('GET', '/api/user/sessions', { token: owner.token })).body.sessions,
  ).toHaveLength(2);
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
  const opening = await startHeld(
    () => OpenStream.open(token),
    'set \\"streams_open_until\\"',
    userOf(token),
  );
  await logOut(token);
  expect((await opening.finish()).status).toBe(401);
});
