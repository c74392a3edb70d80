import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../api/support/clock.ts';
import { freePort } from '../product/machine.ts';
import { call as callUrl, product, newNumber, openTrialLink, signIn } from './shared-product.ts';

type Message = { author: string; text: string; state: string; replyTo?: string; crisis?: boolean };

const root = join(import.meta.dirname, '../..');
const phone = newNumber();
const { BOT_WEBHOOK_SECRET = '' } = product.vars;
let botPort: number;
let bot: ChildProcess;
let token: string;

beforeAll(async () => {
  botPort = await freePort(0, 'PORT');
  await startBot();
  await callUrl(product.botSwitchUrl, 'PUT', { url: eventsUrl() });
  token = await signIn(phone);
  const { url } = await callUrl(`${product.sandboxUrl}/phones/${phone}/trial`, 'POST', { tier: 'basic' });
  await openTrialLink(url);
  await call('PUT', '/api/user/chat/consent', { version: '1' });
});

afterAll(async () => {
  await callUrl(product.botSwitchUrl, 'PUT', { url: null });
  await stopBot();
});

const eventsUrl = () => `http://127.0.0.1:${botPort}/events`;

async function startBot(more: Record<string, string> = {}): Promise<void> {
  bot = spawn(process.execPath, ['worker/docs/example-bot.ts'], {
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      SITE_URL: product.siteUrl,
      BOT_WEBHOOK_SECRET,
      BOT_PORT: String(botPort),
      ...more,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(bot.stdout!, 'data');
}

async function stopBot(): Promise<void> {
  if (!bot || bot.exitCode !== null) return;
  bot.kill();
  await once(bot, 'exit');
}

const call = (method: string, path: string, body?: object) => callUrl(product.siteUrl + path, method, body, token);

const readChat = async () => ((await call('GET', '/api/user/chat')) as { messages: Message[] }).messages;

async function untilReply(text: string): Promise<Message> {
  const id = crypto.randomUUID();
  await call('POST', '/api/user/chat/messages', { id, text });
  const messages = await until(`the reply to "${text}"`, readChat, (all) => all.some(({ replyTo }) => replyTo === id));
  return messages.find(({ replyTo }) => replyTo === id)!;
}

it('counts, repeats what it reads, and marks a crisis', async () => {
  const used = async () => (await call('GET', '/api/user/me')).profile.messagesUsedThisPeriod as number;
  const before = await used();
  expect(await untilReply('Hello')).toMatchObject({ author: 'solace', text: 'You wrote: Hello' });
  expect(await untilReply('I think of suicide')).toMatchObject({ crisis: true });
  expect(await used()).toBe(before + 2);
});

it('refuses what Solace did not sign, and answers an event that comes twice once', async () => {
  const data = {
    phone,
    userId: 'u',
    messageId: crypto.randomUUID(),
    seq: 9,
    text: 'Twice',
    locale: null,
    country: null,
  };
  const body = JSON.stringify({ type: 'chat.message', timestamp: new Date().toISOString(), data });
  const url = eventsUrl();
  expect((await fetch(url, { method: 'POST', body })).status).toBe(401);
  const at = new Date();
  const headers = {
    'webhook-id': 'twice',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(BOT_WEBHOOK_SECRET).sign('twice', at, body),
  };
  for (let time = 0; time < 2; time += 1)
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(204);
  // The reply to a later message comes after whatever the second delivery could have caused.
  await untilReply('Later');
  expect((await readChat()).filter(({ replyTo }) => replyTo === data.messageId)).toHaveLength(1);
});

it('asks a model where it has an address, with what was said before', async () => {
  const asked: { role: string; content: string }[][] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    asked.push(JSON.parse(Buffer.concat(await request.toArray()).toString()).messages);
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content: `Reply ${asked.length}` } }] }));
  };
  const model: Server = createServer((request, response) => void respond(request, response)).listen(0, '127.0.0.1');
  await once(model, 'listening');
  await stopBot();
  await startBot({ MODEL_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}` });
  expect((await untilReply('One')).text).toBe('Reply 1');
  expect((await untilReply('Two')).text).toBe('Reply 2');
  expect(asked[1]!.slice(1).map(({ content }) => content)).toEqual(['One', 'Reply 1', 'Two']);
  model.close();
});
