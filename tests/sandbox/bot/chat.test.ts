import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { postEvent, startTestBot, usage } from '../test-sandbox.ts';

const deadline = { timeout: 30_000 };

let sandbox: Awaited<ReturnType<typeof startTestBot>>;
beforeAll(async () => void (sandbox = await startTestBot()));
afterAll(() => sandbox.close());
beforeEach(async () => {
  sandbox.reset();
  await sandbox.call('PUT', '/bot/mode', { mode: 'answer' });
});

const dataOf = (text: string, phone: string) => ({ phone, messageId: crypto.randomUUID(), seq: 1, text });
const send = (data: object, id?: string) =>
  postEvent(sandbox, { type: 'chat.message', timestamp: '2026-01-01T00:00:00Z', data }, { ...(id && { id }) });

test('replies to a message with typing, usage and a text, once', async () => {
  const data = dataOf('Hello', '+15551230001');
  expect((await send(data, 'one')).status).toBe(200);
  expect((await send(data, 'one')).status).toBe(200);
  await vi.waitFor(() => expect(sandbox.calls).toHaveLength(3), deadline);
  expect(sandbox.calls.map(({ path }) => path)).toEqual(['/api/bot/typing', '/api/bot/usage', '/api/bot/messages']);
  expect(sandbox.calls[2]!.body).toMatchObject({
    phone: data.phone,
    replyTo: data.messageId,
    id: `reply-${data.messageId}`,
  });
  expect(sandbox.calls[2]!.body).not.toHaveProperty('crisis');
  expect((await sandbox.call('GET', '/bot/chat/+15551230001')).json).toEqual([data]);
});

test('marks the reply to a message that contains crisis', async () => {
  await send(dataOf('This is a CRISIS', '+15551230002'));
  await vi.waitFor(() => expect(sandbox.calls.at(-1)?.body.crisis).toBe(true), deadline);
});

test('accepts a message and makes no call in the mode accept', async () => {
  await sandbox.call('PUT', '/bot/mode', { mode: 'accept' });
  const data = dataOf('Hello', '+15551230005');
  expect((await send(data)).status).toBe(200);
  expect((await sandbox.call('GET', '/bot/chat/+15551230005')).json).toEqual([data]);
  await sandbox.call('PUT', '/bot/mode', { mode: 'answer' });
  await send(dataOf('And now?', '+15551230005'));
  await vi.waitFor(() => expect(sandbox.calls).toHaveLength(3), deadline);
});

test('responds 422, or sends no HTTP response, in those modes', async () => {
  await sandbox.call('PUT', '/bot/mode', { mode: 'refuse' });
  expect((await send(dataOf('Hello', '+15551230003'))).status).toBe(422);
  await sandbox.call('PUT', '/bot/mode', { mode: 'silent' });
  const requests = async () => (await sandbox.call('GET', '/stats')).json.bot as number;
  const before = await requests();
  const isSettled = vi.fn();
  void send(dataOf('Hello', '+15551230003')).then(isSettled, isSettled);
  await vi.waitFor(async () => expect(await requests()).toBe(before + 1), deadline);
  const later = { type: 'plan.changed', timestamp: '2026-01-01T00:00:00Z', data: { phone: '+15551230003' } };
  expect((await postEvent(sandbox, later)).status).toBe(200);
  expect(isSettled).not.toHaveBeenCalled();
  expect((await sandbox.call('GET', '/bot/chat/+15551230003')).json).toEqual([]);
  expect((await sandbox.call('PUT', '/bot/mode', { mode: 'loud' })).status).toBe(400);
});

test('has a mode for one phone, which ends with the next one for all', async () => {
  await sandbox.call('PUT', '/bot/mode', { mode: 'refuse', phone: '+15551230004' });
  expect((await send(dataOf('Hello', '+15551230004'))).status).toBe(422);
  expect((await send(dataOf('Hello', '+15551230005'))).status).toBe(200);
  await sandbox.call('PUT', '/bot/mode', { mode: 'accept' });
  expect((await send(dataOf('Hello', '+15551230004'))).status).toBe(200);
});

test('writes without a message before it', async () => {
  const { status, json } = await sandbox.call('POST', '/bot/replies', {
    phone: '+15551230004',
    text: 'Hi',
    crisis: true,
  });
  expect({ status, json }).toEqual({ status: 200, json: { success: true, seq: 2 } });
  expect(sandbox.calls[0]).toMatchObject({
    path: '/api/bot/messages',
    body: { phone: '+15551230004', text: 'Hi', crisis: true },
  });
});

test('fetches a voice message, transcribes it, counts it as voice, and replies with a voice if the plan has it', async () => {
  for (const [index, voice] of [true, false].entries()) {
    sandbox.reset();
    sandbox.respondWith('/api/bot/usage', 200, { ...usage, voice });
    const phone = `+1555123001${index}`;
    const data = { ...dataOf('', phone), voice: { seconds: 7, type: 'audio/webm', bytes: 20 } };
    const calls = () => sandbox.calls.filter(({ body }) => body.phone === phone);
    await send(data);
    await vi.waitFor(() => expect(calls()).toHaveLength(5), 30_000);
    expect(calls().map(({ path }) => path.split('/').at(-1))).toEqual([
      'typing',
      'voice',
      'transcripts',
      'usage',
      'messages',
    ]);
    expect(calls()[1]!.body).toEqual({ phone, id: data.messageId });
    expect(calls()[2]!.body).toMatchObject({ id: data.messageId, text: '(A voice message of 7 s)' });
    expect(calls()[3]!.body).toEqual({ phone, kind: 'voice' });
    if (voice) expect(calls()[4]!.body.voice).toMatchObject({ type: 'audio/ogg;codecs=opus', seconds: 2 });
    else expect(calls()[4]!.body).not.toHaveProperty('voice');
  }
});

test('writes a reply in growing pieces, and speaks it', async () => {
  const text = 'One two three four five six seven';
  await sandbox.call('POST', '/bot/replies', { phone: '+15551230020', text, typed: true, voice: true });
  const calls = sandbox.calls.filter(({ body }) => body.phone === '+15551230020');
  const shown = calls.filter(({ path }) => path === '/api/bot/typing').map(({ body }) => body.text as string);
  expect(shown).toEqual(['One two ', 'One two three four ', 'One two three four five six ']);
  const { voice, ...message } = calls.at(-1)!.body;
  expect(message).toMatchObject({ text });
  expect(message).not.toHaveProperty('typed');
  const bytes = Buffer.from(voice.data, 'base64');
  expect([bytes.toString('latin1', 0, 4), bytes.toString('latin1', 28, 36)]).toEqual(['OggS', 'OpusHead']);
});
