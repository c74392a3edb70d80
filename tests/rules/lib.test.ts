import { deviceOf } from '../../worker/lib/device.ts';
import { describe, expect, it, afterEach, vi } from 'vitest';
import { memoize } from '../../worker/lib/memoize.ts';
import { createHmac, hkdfSync } from 'node:crypto';
import {
  keyedHash,
  keyedHashes,
  type HashPurpose,
  seal,
  unsealKey,
} from '../../worker/lib/crypto.ts';
import { sql } from 'drizzle-orm';
import { callerLanguage } from '../../worker/lib/caller.ts';
import { openDatabase, type Traffic } from '../../worker/lib/database.ts';
import { toRequestError } from '../../worker/http/error-response.ts';
import { Webhook } from 'standardwebhooks';
import { isRecent, isSigned, signMessage } from '../../worker/lib/standard-webhooks.ts';
import { encryptPush } from '../../worker/push/web-push.ts';
import { matches } from '../../worker/operations/stripe-setup/stripe-setup.ts';

it('a sealed key opens under its context alone, and its bytes cannot be read', async () => {
  const kind = { name: 'AES-GCM', length: 256 };
  const wrapping = await crypto.subtle.generateKey(kind, false, ['encrypt', 'unwrapKey']);
  const sealed = await seal(wrapping, 'of one person', crypto.getRandomValues(new Uint8Array(32)));
  const { extractable, usages } = await unsealKey(wrapping, 'of one person', sealed);
  expect({ extractable, usages: usages.toSorted() }).toEqual({
    extractable: false,
    usages: ['decrypt', 'encrypt'],
  });
  await expect(unsealKey(wrapping, 'of another person', sealed)).rejects.toThrow();
});

it('a memoized function keeps no result of a call that threw', () => {
  let calls = 0;
  const make = memoize(() => {
    calls += 1;
    if (calls === 1) throw new Error('not yet');
    return calls;
  });
  expect(() => make('key')).toThrow('not yet');
  expect(make('key')).toBe(2);
});

it.each([
  ['ES', 'es'],
  ['es-MX,es;q=0.9,en;q=0.8', 'es'],
  ['pt', 'pt-BR'],
  ['es;q=0.1,pt-BR;q=1.0,en;q=0.999', 'pt-BR'],
  ['fr,de;q=0.9,es;q=0.1', 'es'],
  ['es;q=0, pt', 'pt-BR'],
  ['est', 'en'],
  ['*', 'en'],
  ['', 'en'],
  [null, 'en'],
  [';q=1', 'en'],
  ['es;q=2', 'en'],
  ['es_MX', 'en'],
  ['es-'.repeat(300), 'en'],
  ['es,'.repeat(3000), 'en'],
] as const)('the language of a caller that sends “%s” is %s', (header, language) => {
  expect(callerLanguage(new Headers(header === null ? {} : { 'accept-language': header }))).toBe(
    language,
  );
});

describe('a keyed hash', () => {
  const secret = 'a pepper of more than thirty-two characters';
  const purposes: HashPurpose[] = ['code', 'trial', 'trial-link', 'phone', 'log'];

  it.each(purposes)(
    'is HMAC-SHA256 under a key that HKDF-SHA256 derives for the purpose %s',
    async (purpose) => {
      const key = Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
      const expected = createHmac('sha256', key).update('+15551234567|123456').digest('hex');
      expect(await keyedHash(secret, purpose, '+15551234567', '123456')).toBe(expected);
      expect(
        (await keyedHashes([`new ${secret}`, secret], purpose, '+15551234567', '123456'))[1],
      ).toBe(expected);
    },
  );
});

describe('a database call', () => {
  const settings = {
    TURSO_DATABASE_URL: 'http://database.test',
    TURSO_AUTH_TOKEN: 'token',
  };
  const lines: string[] = [];

  const sqlError = (code: string, message = 'SQLite error: something that the statement did') => {
    const error = { type: 'error', error: { code, message } };
    return {
      baton: null,
      base_url: null,
      results: [error, { type: 'ok', response: { type: 'close' } }],
    };
  };

  /** The error of a call after the response of the database to its statement. */
  async function errorAfter(status: number, body: unknown): Promise<string> {
    vi.stubGlobal('fetch', async () => Response.json(body, { status }));
    for (const method of ['log', 'error'] as const)
      vi.spyOn(console, method).mockImplementation((line) => lines.push(line));
    const traffic: Traffic = { requests: 0, unreachable: false };
    const call = openDatabase(settings, traffic).run(sql`select 1`);
    const error: unknown = await call.then(
      () => expect.unreachable('the call fails'),
      (thrown) => thrown,
    );
    return toRequestError(error, traffic).errorName;
  }

  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
    lines.length = 0;
  });

  const refused = (status: number) => [
    {
      level: 'error',
      event: 'database_refused',
      status,
    },
  ];

  it.each<[what: string, status: number, body: object, logged?: object[]]>([
    ['another writer', 200, sqlError('SQLITE_BUSY', 'SQLite error: database is locked')],
    [
      'another writer since the snapshot',
      200,
      sqlError('SQLITE_BUSY_SNAPSHOT', 'SQLite error: snapshot'),
    ],
    [
      'another writer, by its message alone',
      200,
      sqlError('SQLITE_UNKNOWN', 'SQLite error: database is locked'),
    ],
    [
      'an expired token',
      401,
      { error: 'Authentication failed: The JWT has expired' },
      refused(401),
    ],
    ['a token for another database', 403, {}, refused(403)],
    ['a missing database', 404, {}, refused(404)],
    ['too many requests', 429, {}],
    ['a failure of the database', 502, {}],
  ])(
    'makes 503 of %s, and logs the cause, and what the owner must mend',
    async (_, status, body, logged = []) => {
      expect(await errorAfter(status, body)).toBe('unavailable');
      const code = status === 200 ? expect.stringMatching(/^SQLITE_/) : status;
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([
        ...logged,
        { event: 'database_unavailable', code },
      ]);
    },
  );

  it.each(['SQLITE_CONSTRAINT', 'SQL_PARSE_ERROR', 'SQLITE_UNKNOWN'])(
    'keeps %s an internal error',
    async (code) => {
      expect(await errorAfter(200, sqlError(code))).toBe('internal');
    },
  );

  it('sends the text of a batch with its statements', async () => {
    const fetched = vi.fn<(request: Request) => Promise<Response>>(async () =>
      Response.json({}, { status: 502 }),
    );
    vi.stubGlobal('fetch', fetched);
    vi.spyOn(console, 'log').mockReturnValue();
    const db = openDatabase(settings, {
      requests: 0,
      unreachable: false,
    });
    await expect(db.batch([db.run(sql`select 1`), db.run(sql`select 2`)])).rejects.toThrow();
    expect(await fetched.mock.calls[0]![0].json()).toMatchObject({
      requests: [{ type: 'batch' }, { type: 'close' }],
    });
  });
});

describe('the comparison of a set-up', () => {
  const there = {
    on: true,
    list: ['b', 'a'],
    rules: [{ type: 'down', more: 1 }],
    extra: null,
  };

  it.each([
    ['less than is there', { on: true }, true],
    ['a list in another order', { list: ['a', 'b'] }, true],
    ['a list of things that say less', { rules: [{ type: 'down' }] }, true],
    ['another value', { on: false }, false],
    ['a longer list', { list: ['a', 'b', 'c'] }, false],
    ['a shorter list', { list: ['a'] }, false],
    ['what is missing', { absent: false }, false],
    ['something inside of nothing', { extra: { on: true } }, false],
  ])('tells whether %s holds', (_, wanted, expected) => {
    expect(matches(there, wanted)).toBe(expected);
  });
});

/** The example of RFC 8291, section 5. */
const vector = {
  text: 'When I grow up, I want to be a watermelon',
  publicKey:
    'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8',
  privateKey: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  salt: 'DGv6ra1nlYgDCS1FRnbzlw',
  body: 'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
};

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'base64url'));
const point = bytes(vector.publicKey);
const text = (part: Uint8Array) => Buffer.from(part).toString('base64url');
const jwk = {
  kty: 'EC',
  crv: 'P-256',
  x: text(point.slice(1, 33)),
  y: text(point.slice(33)),
};

it('a notice is encrypted as in the example of RFC 8291', async () => {
  const curve = { name: 'ECDH', namedCurve: 'P-256' };
  const keys = {
    publicKey: await crypto.subtle.importKey('raw', point, curve, true, []),
    privateKey: await crypto.subtle.importKey(
      'jwk',
      { ...jwk, d: vector.privateKey },
      curve,
      false,
      ['deriveBits'],
    ),
  };
  const sealed = await encryptPush(vector.text, vector, {
    keys,
    salt: bytes(vector.salt),
  });
  expect(text(sealed)).toBe(vector.body);
});

describe('a Standard Webhooks message', () => {
  const secret = `whsec_${Buffer.from('a secret of the tests, 32 bytes.').toString('base64')}`;
  const other = `whsec_${Buffer.from('another one of the tests, 32 b..').toString('base64')}`;
  const message = {
    id: 'msg_1',
    timestamp: 1_800_000_000,
    body: '{"text":"ñ"}',
  };
  const at = new Date(message.timestamp * 1000);

  it('is signed as the public package signs it, once for each secret', async () => {
    const signatures = [secret, other].map((each) =>
      new Webhook(each).sign(message.id, at, message.body),
    );
    expect(await signMessage([secret, other], message)).toBe(signatures.join(' '));
  });

  it('is accepted by any of the secrets, among several signatures, and with no other content', async () => {
    const header = `v2,AAAA v1,broken! ${new Webhook(secret).sign(message.id, at, message.body)}`;
    expect(await isSigned([other, secret], message, header)).toBe(true);
    expect(await isSigned([other], message, header)).toBe(false);
    expect(await isSigned([secret], message, '')).toBe(false);
    for (const change of [{ id: 'msg_2' }, { timestamp: 1 }, { body: '{}' }])
      expect(await isSigned([secret], { ...message, ...change }, header)).toBe(false);
  });

  it('is recent for five minutes before and after', () => {
    const seconds = [-301, -300, 300, 301];
    const now = at.getTime();
    expect(seconds.map((off) => isRecent(message, now + off * 1000))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});

describe('the device of a session', () => {
  const agents = [
    [
      'Safari on iPhone',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
    ],
    [
      'Chrome on iPhone',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/138.0 Mobile/15E148 Safari/604.1',
    ],
    [
      'Chrome on Windows',
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36',
    ],
    [
      'Edge on Windows',
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0',
    ],
    [
      'Samsung Internet on Android',
      'Mozilla/5.0 (Linux; Android 15; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36',
    ],
    ['Firefox on Linux', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
    [
      'Safari on Mac',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
    ],
    [null, 'curl/8.7.1'],
    [null, ''],
  ] as const;

  it.each(agents)('is %s', (device, agent) => {
    const headers = { 'user-agent': agent };
    expect(deviceOf(new Request('https://solace.example', { headers }))).toBe(device);
  });
});
