import { Hono, type Context } from 'hono';
import { Webhook } from 'standardwebhooks';
import { type Phones, numberOf } from '../phones.ts';
import type { Store } from '../store.ts';
import { type Chat, type ChatMessageData, replyTo, type Usage } from './chat.ts';

export type BotEvent = { type: string; timestamp: string; data: { phone?: string } & Record<string, unknown> };

export type BotEventsSettings = { store: Store; phones: Phones; chat: Chat; secret: string };

/** The bot's webhook for the Worker's events; stores each event once, however often it arrives. */
export function createBotEvents({ store, phones, chat, secret }: BotEventsSettings): Hono {
  const webhooks = secret
    .trim()
    .split(/\s+/)
    .map((each) => new Webhook(each));
  const app = new Hono();

  app.post('/bot/webhook', async (c) => {
    const body = await c.req.text();
    if (!webhooks.some((webhook) => isSigned(webhook, body, c.req.header())))
      return c.json({ error: 'Invalid signature' }, 401);
    const event = parseEvent(body);
    if (!event) return c.json({ error: 'An event is {type, timestamp, data}' }, 400);
    const id = c.req.header('webhook-id') ?? '';
    if (store.get('bot-events', id)) return c.json({ received: true, seen: true });
    const mode = event.type === 'chat.message' ? chat.modeOf(event.data.phone ?? '') : 'accept';
    if (mode === 'silent') return new Promise<never>(() => {});
    if (mode === 'refuse') return c.json({ error: 'The bot refuses it' }, 422);
    store.put('bot-events', id, event);
    if (event.type === 'chat.message') chat.accept(event.data as ChatMessageData);
    if (event.type === 'user.deleted' && event.data.phone) phones.eraseChat(event.data.phone.replace(/\D/g, ''));
    return c.json({ received: true });
  });

  app.get('/bot/events', (c) => c.json(store.list<BotEvent>('bot-events')));
  return app;
}

function isSigned(webhook: Webhook, body: string, headers: Record<string, string>): boolean {
  try {
    webhook.verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

function parseEvent(body: string): BotEvent | undefined {
  try {
    const { type, timestamp, data } = JSON.parse(body) as Partial<BotEvent>;
    if (typeof type !== 'string' || typeof timestamp !== 'string' || typeof data !== 'object') return undefined;
    return { type, timestamp, data };
  } catch {
    return undefined;
  }
}

export type Settings = { phones: Phones; siteUrl: string; secret: string };

type Input = { text?: unknown; voice?: unknown; tier?: unknown; days?: unknown; status?: unknown };

/** The control calls of a phone: write, get a trial, set the approval. */
export function createPhoneActions({ phones, siteUrl, secret }: Settings): Hono {
  const callApi = createApi(siteUrl, secret);
  const app = new Hono();

  app.post('/phones/:phone/messages', async (c) => {
    const { number, input } = await read(c);
    const voice = input.voice === true;
    const text = typeof input.text === 'string' && input.text.trim() ? input.text : voice ? 'Voice message' : 'Hi';
    phones.add(number, { from: 'user', text, chat: true, ...(voice && { voice }) });
    await callApi('/api/bot/contacts', { phone: `+${number}`, whatsappId: number });
    const kind = voice ? 'voice' : 'text';
    const usage = await callApi<Usage>('/api/bot/usage', { phone: `+${number}`, kind });
    const reply = replyTo(usage, voice, siteUrl);
    phones.add(number, { from: 'solace', text: reply, chat: true });
    return c.json({ reply, usage });
  });

  app.post('/phones/:phone/trial', async (c) => {
    const { number, input } = await read(c);
    const { tier, days } = input;
    const { url } = await callApi<{ url: string }>('/api/bot/trials', { phone: `+${number}`, tier, days });
    phones.add(number, {
      from: 'solace',
      text: `Here is your free trial. Open this link to start it: ${url}`,
      chat: true,
    });
    return c.json({ url });
  });

  app.post('/phones/:phone/status', async (c) => {
    const { number, input } = await read(c);
    return c.json(await callApi<object>('/api/bot/approvals', { phone: `+${number}`, status: input.status }));
  });

  app.onError((error, c) => {
    if (error instanceof InvalidNumber) return c.json({ error: error.message }, 400);
    if (!(error instanceof ApiError)) throw error;
    const { message, path, status, response } = error;
    return c.json({ error: message, call: path, status, response }, 502);
  });
  return app;
}

class InvalidNumber extends Error {}

async function read(c: Context): Promise<{ number: string; input: Input }> {
  const number = numberOf(c);
  if (!number) throw new InvalidNumber('A phone is a number with its country code, such as +15551234567');
  const body: unknown = await c.req.json().catch(() => ({}));
  return { number, input: typeof body === 'object' && body !== null ? body : {} };
}

/** The Worker did not respond, or returned an error. */
export class ApiError extends Error {
  readonly path: string;
  readonly status: number | null;
  readonly response: unknown;

  constructor(path: string, status: number | null, response: unknown) {
    super(status === null ? `The API did not response ${path}` : `The API responded to ${path} with ${status}`);
    this.path = path;
    this.status = status;
    this.response = response;
  }
}

/** Posts as the bot: signed by Standard Webhooks with the first secret. */
export function createApi(siteUrl: string, secrets: string) {
  const webhook = new Webhook(secrets.trim().split(/\s+/)[0] ?? '');

  /** `id` is the idempotency key of the call. */
  return async function callApi<Result>(
    path: string,
    input: unknown,
    id = `msg_${crypto.randomUUID()}`,
  ): Promise<Result> {
    const response = await post(siteUrl + path, JSON.stringify(input), webhook, id).catch((error: unknown) => {
      throw new ApiError(path, null, String(error));
    });
    const text = await response.text();
    const body = parse(text);
    if (!response.ok) throw new ApiError(path, response.status, body);
    return body as Result;
  };
}

function post(url: string, body: string, webhook: Webhook, id: string): Promise<Response> {
  const headers = signedHeaders(webhook, id, body);
  return fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(15_000) });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The Standard Webhooks headers of a body with this id, signed now. */
export function signedHeaders(webhook: Webhook, id: string, body: string): Record<string, string> {
  const now = new Date();
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': webhook.sign(id, now, body),
  };
}
