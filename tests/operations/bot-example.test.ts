/** @module-tag full */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHmac } from 'node:crypto';
import { json } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { consentVersion } from '#contract/chat-limits';
import type { ChatMessage } from '#contract/chat-schemas';
import { readEvents } from '../api/support/read-events.ts';
import { until } from '../api/support/clock.ts';
import { freePort } from '../product/machine.ts';
import { signedHeaders } from '../sandbox/bot/calls.ts';
import recordings from '../sandbox/bot/recordings.json' with { type: 'json' };
import {
  call as callUrl,
  newNumber,
  ownEnvironment,
  serve,
  startTestProduct,
} from './test-product.ts';

const phone = newNumber();
const botPort = String(await freePort(0, 'PORT'));
const botUrl = `http://127.0.0.1:${botPort}`;
let product: Awaited<ReturnType<typeof startTestProduct>>;
let bot: ChildProcess | undefined;
let token: string;

beforeAll(async () => {
  product = await startTestProduct(botPort);
  await startBot();
  token = await product.signIn(phone);
  await product.startTrial(phone, { tier: 'basic' });
  await call('PUT', '/api/user/chat/consent', { version: consentVersion });
});

afterAll(async () => {
  await stopBot();
  await product?.close();
});

/** Starts the example, in place of the one that runs. */
async function startBot(more: Record<string, string> = {}): Promise<void> {
  await stopBot();
  const settings = {
    SITE_URL: product.siteUrl,
    BOT_WEBHOOK_SECRET: product.vars.BOT_WEBHOOK_SECRET,
    BOT_PORT: botPort,
  };
  const env = { ...ownEnvironment, ...settings, ...more };
  bot = spawn(process.execPath, ['worker/docs/example-bot.ts'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(bot.stdout!, 'data');
}

async function stopBot(): Promise<void> {
  if (!bot || bot.exitCode !== null) return;
  bot.kill();
  await once(bot, 'exit');
}

/** A service that stores the JSON of its requests, and what it responds with. */
async function startService<Body>(respond: (received: Body[]) => object) {
  const received: Body[] = [];
  const server = await serve(async (request, response) => {
    received.push((await json(request)) as Body);
    response.end(JSON.stringify(respond(received)));
  });
  onTestFinished(server.close);
  return { received, url: server.url };
}

const call = (method: string, path: string, body?: object) =>
  callUrl(product.siteUrl + path, method, body, token);

const used = async () =>
  (await call('GET', '/api/user/me')).profile.messagesUsedThisPeriod as number;

const readChat = async () =>
  ((await call('GET', '/api/user/chat')) as { messages: ChatMessage[] }).messages;

async function untilReply(text: string): Promise<ChatMessage> {
  const id = crypto.randomUUID();
  await call('POST', '/api/user/chat/messages', { id, text });
  const messages = await until(`the reply to "${text}"`, readChat, (all) =>
    all.some(({ replyTo }) => replyTo === id),
  );
  return messages.find(({ replyTo }) => replyTo === id)!;
}

it('counts, repeats what it reads, and marks a crisis', async () => {
  const before = await used();
  expect(await untilReply('Hello')).toMatchObject({
    author: 'solace',
    text: 'You wrote: Hello',
  });
  expect(await untilReply('I think of suicide')).toMatchObject({ crisis: true });
  expect(await used()).toBe(before + 2);
});

it('fetches a recording, transcribes and counts it, shows what it types, and replies with a voice', async () => {
  const before = await used();
  const ended = new AbortController();
  const stream = await fetch(`${product.siteUrl}/api/user/chat-stream?token=${token}`, {
    signal: ended.signal,
  });
  const id = crypto.randomUUID();
  const bytes = Buffer.from(
    recordings.find(({ type }) => type.startsWith('audio/ogg'))!.data,
    'base64',
  );
  const sent = await fetch(`${product.siteUrl}/api/user/chat/voice?id=${id}&seconds=2`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'audio/ogg;codecs=opus',
    },
    body: new Uint8Array(bytes),
  });
  expect(sent.status).toBe(200);
  const text = `A recording of ${bytes.length} bytes`;
  const shown: string[] = [];
  for await (const { data } of readEvents(stream.body!)) {
    const event = data ? JSON.parse(data) : {};
    if (event.type === 'typing' && event.text) shown.push(event.text);
    if (event.type === 'message' && event.message.replyTo === id) break;
  }
  ended.abort();
  expect(shown).toEqual(['You wrote: A recording']);
  const messages = await readChat();
  expect(messages.find((message) => message.id === id)).toMatchObject({
    text,
    state: 'delivered',
  });
  const reply = messages.find(({ replyTo }) => replyTo === id)!;
  const voice = {
    type: 'audio/ogg;codecs=opus',
    seconds: 2,
    bytes: bytes.length,
  };
  expect(reply).toMatchObject({ text: `You wrote: ${text}`, voice });
  const headers = { authorization: `Bearer ${token}` };
  const spoken = await fetch(`${product.siteUrl}/api/user/chat/voice/${reply.id}`, { headers });
  expect(Buffer.from(await spoken.arrayBuffer()).equals(bytes)).toBe(true);
  expect(await used()).toBe(before + 1);
});

it('refuses what Solace did not sign, and answers an event that comes twice once', async () => {
  const { replyTo: messageId } = await untilReply('Twice');
  const message = { messageId, seq: 9, text: 'Twice' };
  const data = {
    phone,
    userId: 'u',
    locale: null,
    country: null,
    ...message,
  };
  await sendEvent('chat.message', data, 'twice');
  // The reply to a later message comes after whatever the second delivery could have caused.
  await untilReply('Later');
  expect((await readChat()).filter(({ replyTo }) => replyTo === messageId)).toHaveLength(1);
});

type Prompt = { messages: { content: string }[] };

const startModel = () =>
  startService<Prompt>(({ length }) => ({
    choices: [
      {
        message: {
          role: 'assistant',
          content: `Reply ${length}`,
        },
      },
    ],
  }));

/** What a model was asked last, without the instructions. */
const saidTo = ({ received }: { received: Prompt[] }) =>
  received
    .at(-1)!
    .messages.slice(1)
    .map(({ content }) => content);

it('asks a model where it has an address, with what was said before', async () => {
  const model = await startModel();
  await startBot({ MODEL_URL: model.url });
  expect((await untilReply('One')).text).toBe('Reply 1');
  expect((await untilReply('Two')).text).toBe('Reply 2');
  expect(saidTo(model)).toEqual(['One', 'Reply 1', 'Two']);
});

type Sent = {
  to?: string;
  recipient?: string;
  text: { body: string };
};

/** Starts the bot with WhatsApp; `say` sends it a message from there and returns its reply. */
async function startOnWhatsapp(env: Record<string, string> = {}) {
  const { received: sent, url } = await startService<Sent>(() => ({}));
  const secret = 'app-secret';
  await startBot({
    WHATSAPP_URL: url,
    WHATSAPP_APP_SECRET: secret,
    ...env,
  });
  const post = (body: string, signedBy: string) =>
    fetch(`${botUrl}/whatsapp`, {
      method: 'POST',
      headers: {
        'x-hub-signature-256': `sha256=${createHmac('sha256', signedBy).update(body).digest('hex')}`,
      },
      body,
    });
  const say = async (
    text: string,
    from: {
      from?: string;
      from_user_id?: string;
    },
  ) => {
    const before = sent.length;
    const messages = [
      {
        id: crypto.randomUUID(),
        ...from,
        text: { body: text },
      },
    ];
    const body = JSON.stringify({ entry: [{ changes: [{ value: { messages } }] }] });
    expect((await post(body, 'another')).status).toBe(401);
    // Meta may post a message twice.
    for (let time = 0; time < 2; time += 1) expect((await post(body, secret)).status).toBe(200);
    await expect.poll(() => sent.length, { timeout: 30_000 }).toBeGreaterThan(before);
    const { text: reply, ...receiver } = sent.at(-1)!;
    return { ...receiver, reply: reply.body };
  };
  return { sent, say };
}

/** Sends the bot an event about somebody, which it refuses unsigned and accepts signed. */
async function sendEvent(
  type: string,
  data: object,
  id: string = crypto.randomUUID(),
): Promise<void> {
  const body = JSON.stringify({
    type,
    timestamp: new Date().toISOString(),
    data,
  });
  const headers = signedHeaders(new Webhook(product.vars.BOT_WEBHOOK_SECRET), id, body);
  expect(
    (
      await fetch(`${botUrl}/events`, {
        method: 'POST',
        body,
      })
    ).status,
  ).toBe(401);
  expect(
    (
      await fetch(`${botUrl}/events`, {
        method: 'POST',
        headers,
        body,
      })
    ).status,
  ).toBe(204);
}

it('keeps nothing of a deleted account, and what was said on WhatsApp follows its number', async () => {
  const model = await startModel();
  const { sent, say } = await startOnWhatsapp({ MODEL_URL: model.url });
  const [first, second] = [newNumber(), newNumber()];
  await say('One', { from: first.slice(1) });
  await sendEvent('user.phone_changed', {
    userId: 'u1',
    phone: second,
    previousPhone: first,
  });
  await expect
    .poll(() => sent.at(-1)!.text.body, { timeout: 30_000 })
    .toContain('has a new number');
  await say('Somebody else', { from: first.slice(1) });
  expect(saidTo(model)).toEqual(['Somebody else']);
  await say('Two', { from: second.slice(1) });
  expect(saidTo(model)).toEqual(['One', 'Reply 1', 'Two']);
  await sendEvent('user.deleted', { userId: 'u1', phone: second });
  await say('Three', { from: second.slice(1) });
  expect(saidTo(model)).toEqual(['Three']);
});

it('talks on WhatsApp with a number, an id, or both, and takes a hidden number from its claim to its replies', async () => {
  const { sent, say } = await startOnWhatsapp();
  const newId = () => `US.${crypto.randomUUID().replaceAll('-', '')}`;

  const [visible, hidden] = [newNumber(), newNumber()];
  const [visibleId, hiddenId] = [newId(), newId()];
  const to = visible.slice(1);
  expect(await say('Hello', { from: to })).toMatchObject({
    to,
    reply: 'You wrote: Hello',
  });
  const both = { from: to, from_user_id: visibleId };
  expect(await say('With both', both)).toMatchObject({
    to,
    reply: 'You wrote: With both',
  });
  // WhatsApp may repeat the id where the number was.
  const idAlone = { from: visibleId, from_user_id: visibleId };
  expect(await say('By the id', idAlone)).toMatchObject({
    recipient: visibleId,
    reply: 'You wrote: By the id',
  });
  const conflict = { from: to, from_user_id: newId() };
  expect((await say('Another person', conflict)).reply).toContain('write to our support');

  const theirs = { from_user_id: hiddenId };
  expect((await say('Hello', theirs)).reply).toContain('I cannot see your number.');
  const { linkCode } = await callUrl(`${product.siteUrl}/api/auth/request-otp`, 'POST', {
    phone: hidden,
  });
  expect((await say(`Hi! ${linkCode}`, theirs)).reply).toContain(
    'Type the code that has just arrived',
  );
  expect((await say(`Hi! ${linkCode}`, theirs)).reply).toContain('used or too old');
  const otp = await product.codeOn(hidden);
  const signedIn = await callUrl(`${product.siteUrl}/api/auth/verify-otp`, 'POST', {
    phone: hidden,
    otp,
  });
  expect(signedIn.success).toBe(true);
  expect((await say('Here I am', theirs)).reply).toContain('send me the code');
  expect((await say(otp, theirs)).reply).toContain('Now I know that this is you.');
  expect(await say('Here I am', theirs)).toMatchObject({
    recipient: hiddenId,
    reply: 'You wrote: Here I am',
  });
  expect((await say('I think of suicide', theirs)).reply).toContain('crisis line');
  const used = await callUrl(`${product.siteUrl}/api/user/me`, 'GET', undefined, signedIn.token);
  expect(used.profile.messagesUsedThisPeriod).toBe(2);
  expect(sent).toHaveLength(11);
});
