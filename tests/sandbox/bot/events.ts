import { Hono } from 'hono';
import { Webhook } from 'standardwebhooks';
import type { Phones } from '../phones.ts';
import type { Store } from '../store.ts';
import type { Chat, ChatMessageData } from './chat.ts';

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
    const event = parse(body);
    if (!event) return c.json({ error: 'An event is {type, timestamp, data}' }, 400);
    const id = c.req.header('webhook-id') ?? '';
    if (store.get('bot-events', id)) return c.json({ received: true, seen: true });
    const mode = event.type === 'chat.message' ? chat.modeOf(event.data.phone ?? '') : 'accept';
    if (mode === 'silent') return new Promise<never>(() => {});
    if (mode === 'refuse') return c.json({ error: 'The bot refuses it' }, 422);
    store.put('bot-events', id, event);
    if (event.type === 'chat.message') chat.accept(event.data as ChatMessageData);
    const { previousPhone } = event.data;
    if (event.type === 'user.phone_changed' && typeof previousPhone === 'string')
      phones.add(previousPhone.replace(/\D/g, ''), { from: 'solace', text: movedAway });
    if (event.type === 'user.deleted' && event.data.phone) phones.eraseChat(event.data.phone.replace(/\D/g, ''));
    return c.json({ received: true });
  });

  app.get('/bot/events', (c) => c.json(store.list<BotEvent>('bot-events')));
  return app;
}

/** Without the new number: the old one may be in other hands. */
const movedAway = 'Your Solace account has a new number. If that was not you, write to our support at once.';

function isSigned(webhook: Webhook, body: string, headers: Record<string, string>): boolean {
  try {
    webhook.verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

function parse(body: string): BotEvent | undefined {
  try {
    const { type, timestamp, data } = JSON.parse(body) as Partial<BotEvent>;
    if (typeof type !== 'string' || typeof timestamp !== 'string' || typeof data !== 'object') return undefined;
    return { type, timestamp, data };
  } catch {
    return undefined;
  }
}
