import { describe, expect, it } from 'vitest';
import { botCall, botHeaders, call, send } from './support/api.ts';
import { costOf } from './support/log.ts';
import { newContact, newPerson, newPhone } from './support/person.ts';

const path = '/api/auth/request-otp';
const post = async (body: BodyInit, contentType: string | null = 'application/json', to = path) => {
  const headers = contentType ? { 'content-type': contentType } : {};
  const response = await send(to, { method: 'POST', headers, body });
  return { status: response.status, body: await response.json<Record<string, unknown>>() };
};

describe('a body', () => {
  it.each([
    ['not JSON at all', '{phone'],
    ['empty', ''],
    ['an array', '[]'],
    ['a string', '"+15551234567"'],
    ['null', 'null'],
    ['with a byte order mark', '\uFEFF{"phone":"+15551234567"}'],
    ['nested beyond reason', '['.repeat(8000)],
  ])('that is %s is 400 invalid_body', async (_, text) => {
    const problem = { success: false, code: 'invalid_body', message: 'Invalid request body' };
    expect(await post(text)).toEqual({ status: 400, body: problem });
  });

  it('of invalid UTF-8 is 400 invalid_body', async () => {
    const bytes = new Uint8Array([...new TextEncoder().encode('{"phone":"'), 0xff, 0xfe, 0x22, 0x7d]);
    expect(await post(bytes)).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
  });

  it.each([['text/plain'], ['application/x-www-form-urlencoded'], ['application/json; charset=latin1'], [null]])(
    'sent as %s is 415',
    async (contentType) => {
      const text = JSON.stringify({ phone: newPhone() });
      const body = contentType ? text : new TextEncoder().encode(text);
      const problem = { success: false, code: 'not_json', message: 'Content-Type must be application/json' };
      expect(await post(body, contentType)).toEqual({ status: 415, body: problem });
    },
  );

  it.each([['application/json; charset=utf-8'], ['Application/JSON;charset="UTF-8"']])(
    'sent as %s is read',
    async (contentType) => {
      expect((await post(JSON.stringify({ phone: newPhone() }), contentType)).status).toBe(200);
    },
  );

  it('over 16 KiB is 413, with a length and without', async () => {
    const problem = { success: false, code: 'body_too_large', message: 'Request body too large' };
    const large = JSON.stringify({ phone: 'x'.repeat(1024 * 1024) });
    expect(await post(large)).toEqual({ status: 413, body: problem });
    const chunked = new Blob([large]).stream() as unknown as BodyInit;
    expect(await post(chunked)).toEqual({ status: 413, body: problem });
  });
});

describe('a field', () => {
  it.each([
    [{}, 'Phone number must be at least 10 digits'],
    [{ phone: 15551234567 }, 'Phone number must be at least 10 digits'],
    [{ phone: '+1555123' }, 'Phone number must be at least 10 digits'],
    [{ phone: '15551234567' }, 'Please include country code (e.g., +1234567890)'],
    [{ phone: '+05551234567' }, 'Please include country code (e.g., +1234567890)'],
    [{ phone: '+1555123456789012' }, 'Please include country code (e.g., +1234567890)'],
    [{ phone: '+1555 123 4567' }, 'Please include country code (e.g., +1234567890)'],
  ])('%o is refused with its own sentence', async (body, message) => {
    expect(await call('POST', path, { body })).toMatchObject({
      status: 400,
      body: { success: false, code: 'invalid_field', message, issues: [{ path: 'phone', message }] },
    });
  });

  it.each([
    ['12345', 'OTP must be exactly 6 digits'],
    ['1234567', 'OTP must be exactly 6 digits'],
    ['12345a', 'OTP must contain only numbers'],
    ['١٢٣٤٥٦', 'OTP must contain only numbers'],
  ])('otp %s is refused with its own sentence', async (otp, message) => {
    const answer = await call('POST', '/api/auth/verify-otp', { body: { phone: newPhone(), otp } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_field', issues: [{ path: 'otp', message }] } });
  });

  it('that nobody knows is ignored from users and refused from the bot', async () => {
    const { phone } = await newContact();
    expect((await call('POST', path, { body: { phone, colour: 'green' } })).status).toBe(200);
    expect(await botCall('/api/bot/usage', { phone, colour: 'green' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_field', issues: [{ path: 'colour', message: 'Unknown field colour' }] },
    });
  });

  it.each([[0], [101], [1.5], ['1'], [null]])('count %o is refused', async (count) => {
    const { phone } = await newContact();
    const message = 'count must be a whole number from 1 to 100';
    expect(await botCall('/api/bot/usage', { phone, count })).toMatchObject({ status: 400, body: { message } });
  });
});

describe('an address', () => {
  it.each(['/api', '/api/', '/api/nothing', '/api/user/me/', '/api/%zz', '/api/user/../nothing', '/api/bot'])(
    '%s is 404 as JSON',
    async (unknown) => {
      const { status, body, headers } = await call('GET', unknown);
      expect({ status, body }).toEqual({
        status: 404,
        body: { success: false, code: 'not_found', message: 'Not found' },
      });
      expect(headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
      expect(headers.get('cache-control')).toBe('no-store');
    },
  );

  it.each([
    ['GET', path, 'POST'],
    ['PATCH', '/api/user/me', 'GET, DELETE'],
    ['DELETE', '/api/health', 'GET'],
    ['PUT', '/auth/verify-trial-token', 'POST'],
  ])('%s %s is 405 and says what is allowed', async (method, known, allowed) => {
    const { status, body, headers } = await call(method, known);
    expect({ status, code: body.code, allow: headers.get('allow') }).toEqual({
      status: 405,
      code: 'method_not_allowed',
      allow: allowed,
    });
  });
});

describe('another origin', () => {
  const preflight = (origin: string, to: string, settings = { WEB_ORIGINS: 'https://app.example https://b.example' }) =>
    call('OPTIONS', to, { headers: { origin, 'access-control-request-method': 'POST' }, settings });

  it('is let in when it is listed, with credentials for the stream alone', async () => {
    const listed = await preflight('https://app.example', path);
    expect(listed.status).toBe(204);
    expect(listed.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(listed.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(listed.headers.get('access-control-allow-credentials')).toBeNull();
    const stream = await preflight('https://app.example', '/api/user/usage-stream');
    expect(stream.headers.get('access-control-allow-credentials')).toBe('true');
  });

  it('is not let in otherwise', async () => {
    const { headers } = await preflight('https://evil.example', path);
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('vary')).toBe('Origin');
  });
});

it('never answers garbage with a 5xx', async () => {
  const garbage = [
    '\0',
    '{"phone":{"$ne":1}}',
    '{"phone":"+1555\\u0000123456"}',
    '{"__proto__":{"phone":"+15551234567"}}',
  ];
  for (const text of garbage) {
    for (const to of [path, '/api/auth/verify-otp', '/api/auth/verify-external-token', '/auth/verify-trial-token']) {
      const { status } = await post(text, 'application/json', to);
      expect(status, `${to} ${text}`).toBeLessThan(500);
    }
    const response = await send('/api/bot/usage', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...botHeaders(text) },
      body: text,
    });
    expect(response.status).toBe(400);
  }
});

/** The headers of every API response. */
const always = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  vary: 'Origin',
  'x-content-type-options': 'nosniff',
};

it('are on every kind of response, and no response affects the next', async () => {
  const { token } = await newPerson();
  const origin = 'https://app.example';
  const granted = ['access-control-allow-headers', 'access-control-allow-methods', 'access-control-max-age'];
  const answers: [answer: Response, own: string[]][] = [
    [await send('/api/user/me'), ['content-type', 'www-authenticate']],
    [await send('/api/health', { method: 'PUT' }), ['allow', 'content-type']],
    [await send('/api/user/me', { headers: { authorization: `Bearer ${token}` } }), ['content-type']],
    [await send('/api/user/me', { method: 'OPTIONS', headers: { origin } }), granted],
    [await send(`/api/user/usage-stream?token=${token}`), ['content-type']],
    [await send('/api/nothing'), ['content-type']],
  ];
  const ids = new Set<string>();
  for (const [answer, own] of answers) {
    const { 'x-request-id': id, 'content-length': _, ...headers } = Object.fromEntries(answer.headers);
    expect(headers).toMatchObject(always);
    expect(Object.keys(headers).toSorted()).toEqual([...Object.keys(always), ...own].toSorted());
    ids.add(id!);
    await answer.body?.cancel();
  }
  expect(ids.size).toBe(answers.length);
});

it.each([
  ['NZ', 'NZ'],
  ['XX', null],
  ['T1', null],
  ['nz', null],
  ['<b>', null],
  ['', null],
])('says where the connection comes from (%s), and asks the database for nothing', async (header, country) => {
  const response = await send('/api/country', { headers: { 'cf-ipcountry': header } });
  expect(await response.json()).toEqual({ success: true, country });
  expect(costOf(response)).toBe(0);
});
