import { describe, expect, it } from 'vitest';
import { botCall, call, parallel, runCron, vars } from './support/api.ts';
import { newWriter, reply } from './support/chat.ts';
import { advanceClock, day, eventually } from './support/clock.ts';
import {
  deleteAccount,
  exportOf,
  externalSession,
  logOut,
  newPerson,
  sessionOf,
  userOf,
} from './support/person.ts';
import { beginChange, verifyChange } from './support/codes.ts';
import { logLines } from './support/requests.ts';
import { type PushSubscription, run, sandbox } from './support/sandbox.ts';
import { OpenChat, openSockets, OpenStream } from './support/streams.ts';

const path = '/api/user/push';
/** The key pair of the example of RFC 8291, as `VAPID_KEYS` has it. */
const fresh =
  'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8:yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw';

const put = (token: string, body: object, language = 'en', settings?: Record<string, string>) =>
  call('PUT', path, {
    token,
    body,
    headers: { 'accept-language': language },
    ...(settings && { settings }),
  });
const remove = (token: string, endpoint: string) =>
  call('DELETE', path, { token, body: { endpoint } });

/** Subscribes a new browser of a number with a session. */
async function subscribe(
  {
    phone,
    token,
  }: {
    phone: string;
    token: string;
  },
  language?: string,
) {
  const browser = await sandbox.newBrowser(phone);
  expect((await put(token, browser, language)).body).toEqual({ success: true });
  return browser;
}

/** A writer with a browser that is notified. */
async function newSubscriber(language?: string) {
  const person = await newWriter();
  return { ...person, browser: await subscribe(person, language) };
}

/** The fault at the push service that concerns one browser. */
const faultFor = ({ endpoint }: PushSubscription, fault: object) =>
  sandbox.faults({
    push: {
      ...fault,
      match: endpoint.split('/').at(-1)!,
    },
  });

const rowsOf = async (token: string) => {
  const sql =
    'select endpoint from push_subscriptions where user_id = ? order by created_at, rowid';
  return (await run(sql, userOf(token))).rows.map(({ endpoint }) => endpoint as string);
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
    ['es', 'Solace te respondió', '/es/chat'],
    ['pt-BR', 'O Solace respondeu', '/pt-br/chat'],
  ])(
    'for a reply is in the language %s and says nothing of the reply',
    async (language, title, page) => {
      const { phone } = await newSubscriber(language);
      expect((await reply(phone, 'A secret reply')).body).toEqual({
        success: true,
        seq: 1,
        voice: false,
      });
      const [notice] = await untilNotices(phone, 1);
      expect(notice).toEqual({
        at: expect.any(String),
        title,
        path: page,
        topic: 'reply',
        urgency: 'high',
        ttl: 86_400,
      });
    },
  );

  it('is sent to each browser of the user, once for a repeated reply and for a renewed subscription', async () => {
    const { phone, token, browser } = await newSubscriber();
    const other = await externalSession(phone);
    await subscribe({ phone, token: other });
    await reply(phone, 'One', 'one');
    await untilNotices(phone, 2);
    await reply(phone, 'One', 'one');
    expect((await put(other, browser, 'es')).status).toBe(200);
    await logOut(token);
    await reply(phone, 'Two', 'two');
    const later = (await untilNotices(phone, 4)).slice(2);
    expect(later.map((notice) => notice.path).toSorted()).toEqual(['/chat', '/es/chat']);
  });

  it.each([
    ['of the conversation', OpenChat],
    ['of the account', OpenStream],
  ])('is not sent while a page %s is open, and not for typing', async (_, Stream) => {
    const { phone, token } = await newSubscriber();
    const stream = await Stream.open(token);
    await reply(phone, 'Seen');
    stream.close();
    await eventually(async () => expect(await openSockets(token)).toBe(0));
    await botCall('/api/bot/typing', { phone, text: 'As far as it is' });
    for (const count of [1, 2]) {
      await reply(phone, 'Unseen');
      await untilNotices(phone, count);
    }
  });
});

/** Another session of a number ends the one of a token. */
const endSession = async (phone: string, token: string) =>
  call('DELETE', `/api/user/sessions/${sessionOf(token)}`, { token: await externalSession(phone) });

async function moveElsewhere(phone: string) {
  const token = await externalSession(phone);
  expect((await verifyChange(token, await beginChange(token))).status).toBe(200);
}

describe('a subscription ends', () => {
  it.each<[string, (person: Awaited<ReturnType<typeof newSubscriber>>) => Promise<unknown>]>([
    ['when the browser asks for it', ({ token, browser }) => remove(token, browser.endpoint)],
    ['with its session', ({ token }) => logOut(token)],
    ['with all sessions', ({ token }) => logOut(token, true)],
    ['when another session ends its session', ({ phone, token }) => endSession(phone, token)],
    ['with the account', ({ token }) => deleteAccount(token)],
    ['when another session moves to another number', ({ phone }) => moveElsewhere(phone)],
  ])('%s, and not when another user asks for it', async (_, end) => {
    const person = await newSubscriber();
    expect((await remove((await newPerson()).token, person.browser.endpoint)).status).toBe(200);
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

  it.each([404, 410])(
    'when the push service responds %i, and no other browser is affected',
    async (status) => {
      const { phone, token, browser } = await newSubscriber();
      const other = await subscribe({ phone, token });
      await faultFor(browser, { status });
      await reply(phone, 'Hello');
      await eventually(async () => expect(await rowsOf(token)).toEqual([other.endpoint]));
      await untilNotices(phone, 1);
    },
  );

  it('when its key has left VAPID_KEYS; while a key is rotated, both work', async () => {
    const { phone, token, browser } = await newSubscriber();
    const rotated = { VAPID_KEYS: `${fresh} ${vars.VAPID_KEYS}` };
    for (const VAPID_KEYS of [vars.VAPID_KEYS!, rotated.VAPID_KEYS]) {
      const { body } = await call('GET', path, {
        token,
        settings: { VAPID_KEYS },
      });
      expect(body).toEqual({
        success: true,
        publicKey: VAPID_KEYS.split(':')[0],
      });
    }
    expect((await put(token, browser, 'en', rotated)).status).toBe(200);
    const replyWith = (id: string, settings: Record<string, string>) =>
      botCall('/api/bot/messages', { phone, id, text: 'Hello' }, undefined, settings);
    await replyWith('one', rotated);
    await untilNotices(phone, 1);
    await replyWith('two', { VAPID_KEYS: fresh });
    await eventually(async () => expect(await rowsOf(token)).toEqual([]));
    expect(await sandbox.notices(phone)).toHaveLength(1);
  });

  it('when ten newer ones have come, while subscribing again makes no other one', async () => {
    const person = await newSubscriber();
    const answers = await parallel(10, () => put(person.token, person.browser));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(await rowsOf(person.token)).toEqual([person.browser.endpoint]);
    const later: PushSubscription[] = [];
    for (let index = 0; index < 10; index += 1) later.push(await subscribe(person));
    expect(await rowsOf(person.token)).toEqual(later.map(({ endpoint }) => endpoint));
  });
});

it.each([
  ['responds 500', { status: 500 }, 'notice_refused'],
  ['responds 429', { status: 429 }, 'notice_refused'],
  [
    'redirects to another address',
    { status: 302, location: 'http://127.0.0.1:9/internal' },
    'notice_refused',
  ],
  ['closes the connection', { drop: true }, 'notice_failed'],
])(
  'a push service that %s delays no reply, ends no subscription, and is logged without address',
  async (_, fault, event) => {
    const { phone, token, browser } = await newSubscriber();
    await faultFor(browser, fault);
    expect((await reply(phone, 'Hello')).status).toBe(200);
    await eventually(() => expect(logLines(event)).not.toEqual([]));
    expect(await rowsOf(token)).toEqual([browser.endpoint]);
    for (const hidden of [browser.endpoint, browser.keys.p256dh, browser.keys.auth])
      expect(JSON.stringify(logLines())).not.toContain(hidden);
  },
);

it.each([400, 401, 403])(
  'a subscription that its service refuses three times with %i ends',
  async (status) => {
    const { phone, token, browser } = await newSubscriber();
    await faultFor(browser, { status });
    for (const count of [1, 2, 3]) {
      expect(await rowsOf(token)).toEqual([browser.endpoint]);
      await reply(phone, 'Hello');
      await eventually(() => expect(logLines('notice_refused')).toHaveLength(count));
    }
    await eventually(async () => expect(await rowsOf(token)).toEqual([]));
  },
);

it('browsers of every public push service may subscribe', async () => {
  const { token, browser } = await newSubscriber();
  for (const host of ['fcm.googleapis.com', 'jmt17.google.com', 'android.googleapis.com'])
    expect(
      (
        await put(token, {
          ...browser,
          endpoint: `https://${host}/fcm/send/1`,
        })
      ).status,
    ).toBe(200);
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
    'https://127.0.0.1/1',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/1',
    'http://127.0.0.1:9/push-service/1',
    'javascript:alert(1)',
    '//fcm.googleapis.com/1',
  ];
  const otherKeys = [
    ...[undefined, 'BAAA', `B${'A'.repeat(86)}`].map((p256dh) => ({ p256dh })),
    ...['A'.repeat(23), '+'.repeat(22)].map((auth) => ({ auth })),
  ];

  it('endpoints outside the push services, and malformed subscriptions, and stores nothing', async () => {
    const { phone, token } = await newPerson();
    const browser = await sandbox.newBrowser(phone);
    const refused = { status: 400, body: { code: 'invalid_field' } };
    for (const endpoint of inside) {
      const answer = await put(token, { ...browser, endpoint });
      expect(answer, endpoint).toMatchObject(refused);
      expect(answer.body.message).toMatch(/^endpoint must be an /);
    }
    const long = `https://fcm.googleapis.com/${'x'.repeat(975)}`;
    const malformed = [
      { endpoint: undefined },
      { endpoint: long },
      { keys: undefined },
      { keys: 'p256dh' },
    ];
    const keys = otherKeys.map((wrong) => ({
      keys: {
        ...browser.keys,
        ...wrong,
      },
    }));
    for (const wrong of [...malformed, ...keys])
      expect(
        await put(token, {
          ...browser,
          ...wrong,
        }),
        JSON.stringify(wrong),
      ).toMatchObject(refused);
    expect(await rowsOf(token)).toEqual([]);
  });

  it('every call without VAPID_KEYS, and sends nothing', async () => {
    const { phone, token, browser } = await newSubscriber();
    const settings = { VAPID_KEYS: '' };
    for (const [method, body] of [['GET'], ['PUT', browser], ['DELETE', browser]] as const) {
      const answer = await call(method, path, {
        token,
        body,
        settings,
      });
      expect(answer, method).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
    }
    await botCall('/api/bot/messages', { phone, id: 'one', text: 'Hello' }, undefined, settings);
    await reply(phone, 'Hello');
    await untilNotices(phone, 1);
  });
});

it('exports the push services and languages of the browsers, and no secret of theirs', async () => {
  const { token, browser } = await newSubscriber('es');
  const { body, text } = await exportOf(token);
  const { host: service, pathname } = new URL(browser.endpoint);
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
  expect(body.notices).toEqual([
    {
      service,
      language: 'es',
      createdAt: at,
      expiresAt: at,
    },
  ]);
  for (const hidden of [pathname, browser.keys.p256dh, browser.keys.auth])
    expect(text).not.toContain(hidden);
});
