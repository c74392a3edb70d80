import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { call, botCall, runCron, vars, parallel } from './support/api.ts';
import { consent, newWriter, reply } from './support/chat.ts';
import { advanceClock, day, eventually } from './support/clock.ts';
import { database } from './support/database.ts';
import { logLines } from './support/log.ts';
import { deleteAccount, externalSession, newPerson, userOf } from './support/person.ts';
import { sandbox, type PushSubscription } from './support/sandbox.ts';
import { liveUserOf, OpenChat, OpenStream } from './support/streams.ts';

const path = '/api/user/push';

const put = (token: string, body: object, more: { language?: string; settings?: Record<string, string> } = {}) => {
  const { language, settings } = more;
  return call('PUT', path, {
    token,
    body,
    ...(language && { headers: { 'accept-language': language } }),
    ...(settings && { settings }),
  });
};
const remove = (token: string, endpoint: string) => call('DELETE', path, { token, body: { endpoint } });

/** Subscribes a new browser of a number with a session. */
async function subscribe({ phone, token }: { phone: string; token: string }, language?: string) {
  const browser = await sandbox.newBrowser(phone);
  expect((await put(token, browser, { ...(language && { language }) })).body).toEqual({ success: true });
  return browser;
}

/** A writer with a browser that is notified. */
async function newSubscriber(language?: string) {
  const person = await newWriter();
  return { ...person, browser: await subscribe(person, language) };
}

/** A key pair as `VAPID_KEYS` has it. */
async function newKeyPair(): Promise<string> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const { x, y, d } = (await crypto.subtle.exportKey('jwk', (pair as CryptoKeyPair).privateKey)) as JsonWebKey;
  const decode = (text: string) => atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const point = btoa(`\x04${decode(x!)}${decode(y!)}`);
  return `${point.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}:${d}`;
}

const rowsOf = async (token: string) => {
  const sql = 'select endpoint from push_subscriptions where user_id = ? order by created_at, rowid';
  return (await database.execute({ sql, args: [userOf(token)] })).rows.map(({ endpoint }) => endpoint as string);
};

const untilNotices = (phone: string, count: number) =>
  eventually(async () => {
    const notices = await sandbox.notices(phone);
    expect(notices).toHaveLength(count);
    return notices;
  });

describe('a notice', () => {
  it.each([
    ['en', 'Solace has replied', '/chat'],
    ['es-MX,es;q=0.9', 'Solace te respondió', '/es/chat'],
    ['pt-PT, en;q=0.5', 'Solace respondeu', '/pt-br/chat'],
    ['ja, fr', 'Solace has replied', '/chat'],
  ])('for a reply is in the language %s and says nothing of the reply', async (language, title, page) => {
    const { phone } = await newSubscriber(language);
    expect((await reply(phone, 'A secret reply')).body).toEqual({ success: true, seq: 1, voice: false });
    const [notice] = await untilNotices(phone, 1);
    expect(notice).toEqual({ at: expect.any(String), title, path: page, topic: 'reply', urgency: 'high', ttl: 86_400 });
  });

  it('is sent to each browser of the user, and not for the reply that is repeated', async () => {
    const person = await newSubscriber();
    await subscribe({ phone: person.phone, token: await externalSession(person.phone) });
    await reply(person.phone, 'One', 'one');
    await untilNotices(person.phone, 2);
    await reply(person.phone, 'One', 'one');
    await reply(person.phone, 'Two', 'two');
    await untilNotices(person.phone, 4);
  });

  it.each([
    ['of the conversation', OpenChat],
    ['of the account', OpenStream],
  ])('is not sent while a page %s is open, and not for typing', async (_, Stream) => {
    const { phone, token } = await newSubscriber();
    const stream = await Stream.open(token);
    await reply(phone, 'Seen');
    stream.close();
    const open = () => runInDurableObject(liveUserOf(token), (_object, state) => state.getWebSockets().length);
    await eventually(async () => expect(await open()).toBe(0));
    await botCall('/api/bot/typing', { phone, text: 'As far as it is' });
    for (const count of [1, 2]) {
      await reply(phone, 'Unseen');
      await untilNotices(phone, count);
    }
  });

  it('is sent once for a subscription that another session of the browser renews', async () => {
    const person = await newSubscriber();
    const token = await externalSession(person.phone);
    expect((await put(token, person.browser, { language: 'es' })).status).toBe(200);
    await call('POST', '/api/auth/logout', { token: person.token });
    await reply(person.phone, 'Hello');
    expect(await untilNotices(person.phone, 1)).toMatchObject([{ path: '/es/chat' }]);
  });
});

describe('a subscription ends', () => {
  const ends: [string, (person: Awaited<ReturnType<typeof newSubscriber>>) => Promise<unknown>][] = [
    ['when the browser asks for it', ({ token, browser }) => remove(token, browser.endpoint)],
    ['with its session', ({ token }) => call('POST', '/api/auth/logout', { token })],
    ['with all sessions', ({ token }) => call('POST', '/api/auth/logout', { token, body: { everywhere: true } })],
    [
      'when another session ends its session',
      async ({ phone, token }) => {
        const other = await externalSession(phone);
        const { body } = await call('GET', '/api/user/sessions', { token: other });
        const { id } = body.sessions.find(({ current }: { current: boolean }) => !current);
        await call('DELETE', `/api/user/sessions/${id}`, { token: other });
        expect(await rowsOf(token)).toEqual([]);
      },
    ],
    ['with the account', ({ token }) => deleteAccount(token)],
  ];
  it.each(ends)('%s', async (_, end) => {
    const person = await newSubscriber();
    expect(await rowsOf(person.token)).toEqual([person.browser.endpoint]);
    await end(person);
    expect(await rowsOf(person.token)).toEqual([]);
  });

  it('with the session that runs out: the cron job deletes it, and nobody is notified before', async () => {
    const { phone, token, browser } = await newSubscriber();
    advanceClock(31 * day);
    await reply(phone, 'Late');
    expect(await rowsOf(token)).toEqual([browser.endpoint]);
    await runCron();
    expect(await rowsOf(token)).toEqual([]);
    expect(await sandbox.notices(phone)).toEqual([]);
  });

  it.each([404, 410])('when the push service responds %i, and no other browser is affected', async (status) => {
    const { phone, token, browser } = await newSubscriber();
    const other = await subscribe({ phone, token });
    await sandbox.faults({ push: { status, match: browser.endpoint.split('/').at(-1)! } });
    await reply(phone, 'Hello');
    await eventually(async () => expect(await rowsOf(token)).toEqual([other.endpoint]));
    await untilNotices(phone, 1);
  });

  it('when its key has left VAPID_KEYS; while a key is rotated, both work', async () => {
    const { phone, token, browser } = await newSubscriber();
    const fresh = await newKeyPair();
    const rotated = { VAPID_KEYS: `${fresh} ${vars.VAPID_KEYS}` };
    expect((await call('GET', path, { token, settings: rotated })).body.publicKey).toBe(fresh.split(':')[0]);
    expect((await put(token, browser, { settings: rotated })).status).toBe(200);
    const body = (id: string) => ({ phone, id, text: 'Hello' });
    await botCall('/api/bot/messages', body('one'), undefined, rotated);
    await untilNotices(phone, 1);
    await botCall('/api/bot/messages', body('two'), undefined, { VAPID_KEYS: fresh });
    await eventually(async () => expect(await rowsOf(token)).toEqual([]));
    expect(await sandbox.notices(phone)).toHaveLength(1);
  });

  it('when ten newer ones have come', async () => {
    const person = await newSubscriber();
    const later: PushSubscription[] = [];
    for (let index = 0; index < 10; index += 1) later.push(await subscribe(person));
    expect(await rowsOf(person.token)).toEqual(later.map(({ endpoint }) => endpoint));
  });
});

describe('a push service that', () => {
  it.each([
    ['responds 500', { status: 500 }, 'notice_refused'],
    ['responds 429', { status: 429 }, 'notice_refused'],
    ['redirects to another address', { status: 302, location: 'http://127.0.0.1:9/internal' }, 'notice_refused'],
    ['closes the connection', { drop: true }, 'notice_failed'],
  ] as const)(
    '%s delays no reply, keeps the subscription, and is logged without its address',
    async (_, fault, event) => {
      const { phone, token, browser } = await newSubscriber();
      await sandbox.faults({ push: { ...fault, match: browser.endpoint.split('/').at(-1)! } });
      expect((await reply(phone, 'Hello')).status).toBe(200);
      await eventually(() => expect(logLines(event)).not.toEqual([]));
      expect(await rowsOf(token)).toEqual([browser.endpoint]);
      for (const hidden of [browser.endpoint, browser.keys.p256dh, browser.keys.auth])
        expect(JSON.stringify(logLines())).not.toContain(hidden);
    },
  );
});

describe('the API refuses', () => {
  const inside = [
    'http://fcm.googleapis.com/fcm/send/1',
    'https://fcm.googleapis.com:8443/fcm/send/1',
    'https://user:password@fcm.googleapis.com/fcm/send/1',
    'https://fcm.googleapis.com@evil.example/1',
    'https://fcm.googleapis.com.evil.example/1',
    'https://evilpush.apple.com/1',
    'https://evil.example/push.apple.com',
    'https://localhost/1',
    'https://127.0.0.1/1',
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/1',
    'https://[::1]/1',
    'https://[fd00::1]/1',
    'http://127.0.0.1:9/push-service/1',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/plain,1',
    '//fcm.googleapis.com/1',
  ];
  it.each(inside)('the endpoint %s, and stores nothing', async (endpoint) => {
    const { phone, token } = await newPerson();
    const { keys } = await sandbox.newBrowser(phone);
    const { status, body } = await put(token, { endpoint, keys });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_field' });
    expect(body.message).toMatch(/^endpoint must be an /);
    expect(await rowsOf(token)).toEqual([]);
  });

  it.each([
    ['no endpoint', { endpoint: undefined }],
    ['an endpoint of 1,001 characters', { endpoint: `https://fcm.googleapis.com/${'x'.repeat(975)}` }],
    ['no keys', { keys: undefined }],
    ['keys that are a text', { keys: 'p256dh' }],
    ['no p256dh', { keys: { auth: 'A'.repeat(22) } }],
    ['a p256dh that is too short', { keys: { p256dh: 'BAAA', auth: 'A'.repeat(22) } }],
    ['a p256dh that is no point', { keys: { p256dh: `B${'A'.repeat(86)}`, auth: 'A'.repeat(22) } }],
    ['an auth of another length', { keys: { auth: 'A'.repeat(23) } }],
    ['an auth with other characters', { keys: { auth: '+'.repeat(22) } }],
  ])('%s, and stores nothing', async (_, wrong: Record<string, any>) => {
    const { phone, token } = await newPerson();
    const browser = await sandbox.newBrowser(phone);
    const keys =
      'keys' in wrong && typeof wrong['keys'] === 'object' ? { ...browser.keys, ...wrong['keys'] } : wrong['keys'];
    const body = { ...browser, ...wrong, ...('keys' in wrong && { keys }) };
    if (_ === 'no p256dh') delete body.keys.p256dh;
    const answer = await put(token, body);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code: 'invalid_field' });
    expect(await rowsOf(token)).toEqual([]);
  });

  it('every call without VAPID_KEYS, and sends nothing', async () => {
    const { phone, token, browser } = await newSubscriber();
    const settings = { VAPID_KEYS: '' };
    const { endpoint } = browser;
    for (const [method, body] of [['GET'], ['PUT', browser], ['DELETE', { endpoint }]] as const) {
      const answer = await call(method, path, { token, body, settings });
      expect({ status: answer.status, code: answer.body.code }, method).toEqual({ status: 404, code: 'not_found' });
    }
    await botCall('/api/bot/messages', { phone, id: 'one', text: 'Hello' }, undefined, settings);
    await reply(phone, 'Hello');
    await untilNotices(phone, 1);
  });

  it("the session of a trial link, and leaves other people's subscriptions as they are", async () => {
    const { token, browser, phone } = await newSubscriber();
    const other = await newPerson();
    expect((await remove(other.token, browser.endpoint)).status).toBe(200);
    expect(await rowsOf(token)).toEqual([browser.endpoint]);
    const { body } = await botCall('/api/bot/trials', { phone });
    const trialToken = new URL(body.url).searchParams.get('token');
    const limited = await call('POST', '/auth/verify-trial-token', { body: { trialToken } });
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect(
        (await call(method, path, { token: limited.body.token, body: method === 'GET' ? undefined : browser })).body
          .code,
      ).toBe('sign_in_needed');
  });
});

it('gives the key with which a browser subscribes', async () => {
  const { token } = await newPerson();
  const { status, body } = await call('GET', path, { token });
  expect({ status, body }).toEqual({
    status: 200,
    body: { success: true, publicKey: vars.VAPID_KEYS!.split(':')[0] },
  });
});

it('exports the push services and languages of the browsers, and no secret of theirs', async () => {
  const { token, browser } = await newSubscriber('es');
  const { body, text } = await call('GET', '/api/user/export', { token });
  const service = new URL(browser.endpoint).host;
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
  expect(body.notices).toEqual([{ service, language: 'es', createdAt: at, expiresAt: at }]);
  for (const hidden of [new URL(browser.endpoint).pathname, browser.keys.p256dh, browser.keys.auth])
    expect(text).not.toContain(hidden);
});

it('stores one row for a browser that subscribes many times at once', async () => {
  const { phone, token } = await newPerson();
  await consent(token);
  const browser = await sandbox.newBrowser(phone);
  const answers = await parallel(10, () => put(token, browser));
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  expect(await rowsOf(token)).toEqual([browser.endpoint]);
});
