import type { IncomingMessage, ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { listen, type Listening } from '../listen.ts';
import { secrets, trySandbox } from '../try-sandbox.ts';

const webhook = new Webhook(secrets.BOT_WEBHOOK_SECRET);
const usage = {
  success: true,
  allowed: true,
  used: 1,
  limit: 5,
  remaining: 4,
  voice: false,
  resetsAt: '2026-01-08T00:00:00Z',
};

let api: Listening;
let sandbox: Awaited<ReturnType<typeof trySandbox>>;
let calls: { path: string; id: string; body: any }[];

beforeAll(async () => {
  api = await listen(0);
  api.serve((request, response) => void respond(request, response));
  sandbox = await trySandbox(`http://127.0.0.1:${api.port}`);
});
async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await request.toArray()).join('');
  webhook.verify(body, request.headers as Record<string, string>);
  calls.push({ path: request.url!, id: String(request.headers['webhook-id']), body: JSON.parse(body) });
  response.end(JSON.stringify(request.url === '/api/bot/usage' ? usage : { success: true, seq: 2 }));
}

afterAll(async () => {
  await sandbox.close();
  await api.close();
});
beforeEach(async () => {
  calls = [];
  await sandbox.call('PUT', '/bot/mode', { mode: 'answer' });
});

const dataOf = (text: string, phone: string) => ({ phone, messageId: crypto.randomUUID(), seq: 1, text });

function send(data: object, id: string = crypto.randomUUID()) {
  const text = JSON.stringify({ type: 'chat.message', timestamp: '2026-01-01T00:00:00Z', data });
  const now = new Date();
  return sandbox.call('POST', '/bot/webhook', text, {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': webhook.sign(id, now, text),
  });
}

test('answers a message with typing, usage and a reply within a second, once', async () => {
  const data = dataOf('Hello', '+15551230001');
  expect((await send(data, 'one')).status).toBe(200);
  expect((await send(data, 'one')).status).toBe(200);
  await vi.waitFor(() => expect(calls).toHaveLength(3), 1000);
  expect(calls.map(({ path }) => path)).toEqual(['/api/bot/typing', '/api/bot/usage', '/api/bot/messages']);
  expect(calls[2]!.body).toMatchObject({ phone: data.phone, replyTo: data.messageId, id: `reply-${data.messageId}` });
  expect(calls[2]!.body).not.toHaveProperty('crisis');
  expect((await sandbox.call('GET', '/bot/chat/+15551230001')).json).toEqual([data]);
});

test('marks the reply to a message that contains crisis', async () => {
  await send(dataOf('This is a CRISIS', '+15551230002'));
  await vi.waitFor(() => expect(calls.at(-1)?.body.crisis).toBe(true), 1000);
});

test('refuses, or sends no HTTP response, when told to', async () => {
  await sandbox.call('PUT', '/bot/mode', { mode: 'refuse' });
  expect((await send(dataOf('Hello', '+15551230003'))).status).toBe(422);
  await sandbox.call('PUT', '/bot/mode', { mode: 'silent' });
  const response = send(dataOf('Hello', '+15551230003')).then(
    () => 'responded',
    () => 'cut',
  );
  expect(await Promise.race([response, new Promise((resolve) => setTimeout(resolve, 500, 'silent'))])).toBe('silent');
  expect((await sandbox.call('GET', '/bot/chat/+15551230003')).json).toEqual([]);
  expect((await sandbox.call('PUT', '/bot/mode', { mode: 'loud' })).status).toBe(400);
});

test('writes by itself', async () => {
  const { status, json } = await sandbox.call('POST', '/bot/replies', {
    phone: '+15551230004',
    text: 'Hi',
    crisis: true,
  });
  expect({ status, json }).toEqual({ status: 200, json: { success: true, seq: 2 } });
  expect(calls[0]).toMatchObject({
    path: '/api/bot/messages',
    body: { phone: '+15551230004', text: 'Hi', crisis: true },
  });
});
