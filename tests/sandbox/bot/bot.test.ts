import type { IncomingMessage, ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
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
let heard: { path: string; body: unknown }[];
let answers: Record<string, [number, unknown]>;

beforeAll(async () => {
  api = await listen(0);
  api.serve((request, response) => void answer(request, response));
  sandbox = await trySandbox(`http://127.0.0.1:${api.port}`);
});
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await request.toArray()).join('');
  webhook.verify(body, request.headers as Record<string, string>);
  heard.push({ path: request.url ?? '', body: JSON.parse(body) });
  const [status, json] = answers[request.url ?? ''] ?? [200, { success: true }];
  response.writeHead(status).end(JSON.stringify(json));
}

afterAll(async () => {
  await sandbox.close();
  await api.close();
});
beforeEach(() => {
  heard = [];
  answers = { '/api/bot/usage': [200, usage] };
});

test('a message reports the contact, posts the usage, signed, and brings a reply', async () => {
  const { status, json } = await sandbox.call('POST', '/phones/+15551234567/messages', { text: 'Hi' });
  expect(status).toBe(200);
  expect(json.usage).toEqual(usage);
  expect(heard).toEqual([
    { path: '/api/bot/contacts', body: { phone: '+15551234567', whatsappId: '15551234567' } },
    { path: '/api/bot/usage', body: { phone: '+15551234567', kind: 'text' } },
  ]);
  const held = (await sandbox.call('GET', '/phones/15551234567/messages')).json;
  expect(held).toMatchObject([
    { from: 'user', text: 'Hi' },
    { from: 'solace', text: json.reply },
  ]);
});

test.each([
  ['the week is used up', { used: 5, remaining: 0 }, false, /weekly allowance of 5/],
  ['voice is not in the plan', {}, true, /paid plan/],
  ['the account waits', {}, false, /waiting for approval/],
])('says so when %s', async (_, changes, voice, words) => {
  answers['/api/bot/usage'] = [200, { ...usage, allowed: false, ...changes }];
  const { json } = await sandbox.call('POST', '/phones/15550000002/messages', { text: 'Hi', voice });
  expect(json.reply).toMatch(words);
});

test('a trial link goes to the phone', async () => {
  answers['/api/bot/trials'] = [200, { success: true, url: 'http://localhost/activate-trial?token=abc' }];
  const { json } = await sandbox.call('POST', '/phones/15550000003/trial', { tier: 'basic', days: 3 });
  expect(json).toEqual({ url: 'http://localhost/activate-trial?token=abc' });
  expect(heard[0]!.body).toEqual({ phone: '+15550000003', tier: 'basic', days: 3 });
  expect((await sandbox.call('GET', '/phones/15550000003/messages')).json).toMatchObject([{ url: json.url }]);
});

test('a status is passed on', async () => {
  await sandbox.call('POST', '/phones/15550000004/status', { status: 'pending' });
  expect(heard).toEqual([{ path: '/api/bot/approvals', body: { phone: '+15550000004', status: 'pending' } }]);
});

test('what the API refuses is told as it is', async () => {
  answers['/api/bot/trials'] = [409, { success: false, code: 'conflict' }];
  expect(await sandbox.call('POST', '/phones/15550000005/trial', {})).toMatchObject({
    status: 502,
    json: { call: '/api/bot/trials', status: 409, answer: { code: 'conflict' } },
  });
});

test('a phone must be a number', async () => {
  expect((await sandbox.call('POST', '/phones/nobody/messages', {})).status).toBe(400);
});
