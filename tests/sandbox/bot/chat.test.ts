import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { startTestBot, usage } from '../test-sandbox.ts';

const deadline = { timeout: 30_000 };

const sandbox = await startTestBot();
afterAll(() => sandbox.close());

const setMode = (mode: string, phone?: string) =>
  sandbox.call('PUT', '/bot/mode', {
    mode,
    phone,
  });
/** The bot's calls about a phone; it may still reply to the message of another test. */
const callsFor = (phone: string) => sandbox.calls.filter(({ body }) => body.phone === phone);
const accepted = async (phone: string) => (await sandbox.call('GET', `/bot/chat/${phone}`)).json;
const dataOf = (text: string, phone: string) => ({
  phone,
  messageId: crypto.randomUUID(),
  seq: 1,
  text,
});
const send = (data: object, id: string = crypto.randomUUID()) =>
  sandbox.postEvent('chat.message', data, { id });
const statusOf = async (phone: string) => (await send(dataOf('Hello', phone))).status;

beforeEach(async () => {
  sandbox.reset();
  await setMode('answer');
});

test('replies to a message with typing, usage and a text, once, and marks the reply to a crisis', async () => {
  const phone = '+15551230001';
  const data = dataOf('Hello', phone);
  expect((await send(data, 'one')).status).toBe(200);
  expect((await send(data, 'one')).status).toBe(200);
  await vi.waitFor(() => expect(callsFor(phone)).toHaveLength(3), deadline);
  expect(callsFor(phone).map(({ path }) => path)).toEqual([
    '/api/bot/typing',
    '/api/bot/usage',
    '/api/bot/messages',
  ]);
  const { body } = callsFor(phone)[2]!;
  expect(body).toMatchObject({
    phone,
    replyTo: data.messageId,
    id: `reply-${data.messageId}`,
  });
  expect(body).not.toHaveProperty('crisis');
  expect(await accepted(phone)).toEqual([data]);
  await send(dataOf('This is a CRISIS', phone));
  await vi.waitFor(() => expect(callsFor(phone).at(-1)?.body.crisis).toBe(true), deadline);
});

test('accepts a message and makes no call in the mode accept', async () => {
  const phone = '+15551230002';
  await setMode('accept');
  expect(await statusOf(phone)).toBe(200);
  expect(await accepted(phone)).toMatchObject([{ text: 'Hello' }]);
  await setMode('answer');
  const data = dataOf('And now?', phone);
  await send(data);
  await vi.waitFor(() => expect(callsFor(phone)).toHaveLength(3), deadline);
  expect(callsFor(phone)[2]!.body.replyTo).toBe(data.messageId);
});

test('sends no HTTP response in the mode silent', async () => {
  const phone = '+15551230003';
  await setMode('silent');
  const requests = async () => (await sandbox.call('GET', '/stats')).json.bot as number;
  const before = await requests();
  const isSettled = vi.fn();
  void statusOf(phone).then(isSettled, isSettled);
  await vi.waitFor(async () => expect(await requests()).toBe(before + 1), deadline);
  expect((await sandbox.postEvent('plan.changed', { phone })).status).toBe(200);
  expect(isSettled).not.toHaveBeenCalled();
  expect(await accepted(phone)).toEqual([]);
});

test('has a mode for one phone, which ends with the next one for all', async () => {
  await setMode('refuse', '+15551230004');
  expect(await statusOf('+15551230004')).toBe(422);
  expect(await statusOf('+15551230005')).toBe(200);
  await setMode('accept');
  expect(await statusOf('+15551230004')).toBe(200);
});

test.each([
  ['+15551230010', true],
  ['+15551230011', false],
])(
  'fetches, transcribes and counts the voice message of %s; the reply has a voice: %s',
  async (phone, voice) => {
    sandbox.respondWith('/api/bot/usage', 200, { ...usage, voice });
    const data = {
      ...dataOf('', phone),
      voice: {
        seconds: 7,
        type: 'audio/webm',
        bytes: 20,
      },
    };
    await send(data);
    await vi.waitFor(() => expect(callsFor(phone)).toHaveLength(5), deadline);
    const id = data.messageId;
    expect(callsFor(phone)).toMatchObject([
      { path: '/api/bot/typing' },
      { path: '/api/bot/voice', body: { phone, id } },
      {
        path: '/api/bot/transcripts',
        body: {
          id,
          text: '(A voice message of 7 s)',
        },
      },
      { path: '/api/bot/usage', body: { phone, kind: 'voice' } },
      { path: '/api/bot/messages' },
    ]);
    const spoken = { type: 'audio/ogg;codecs=opus', seconds: 2 };
    const reply = callsFor(phone)[4]!.body;
    if (voice) expect(reply.voice).toMatchObject(spoken);
    else expect(reply).not.toHaveProperty('voice');
  },
);

test('writes a reply in growing pieces, and speaks it', async () => {
  const [phone, text] = ['+15551230020', 'One two three four five six seven'];
  await sandbox.call('POST', '/bot/replies', {
    phone,
    text,
    typed: true,
    voice: true,
  });
  const calls = callsFor(phone);
  const shown = calls
    .filter(({ path }) => path === '/api/bot/typing')
    .map(({ body }) => body.text as string);
  expect(shown).toEqual(['One two ', 'One two three four ', 'One two three four five six ']);
  const { voice, ...message } = calls.at(-1)!.body;
  expect(message).toMatchObject({ text });
  expect(message).not.toHaveProperty('typed');
  const bytes = Buffer.from(voice.data, 'base64');
  expect([bytes.toString('latin1', 0, 4), bytes.toString('latin1', 28, 36)]).toEqual([
    'OggS',
    'OpusHead',
  ]);
});
