import { Hono } from 'hono';
import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import { controlError } from '../controls.ts';
import type { Setup } from '../setup.ts';
import type { Chat, ChatMessageData } from './chat.ts';

const BotEvent = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ type: v.string(), timestamp: v.string(), data: v.looseObject({ phone: v.optional(v.string()) }) }),
);

/** Without the new number: the old one may be in other hands. */
const movedAway = 'Your Solace account has a new number. If that was not you, write to our support at once.';

/** The bot's webhook for the Worker's events; stores each event once, however often it arrives. */
export function createBotEvents({ store, phones, secrets }: Setup, chat: Chat): Hono {
  const webhooks = secrets.BOT_WEBHOOK_SECRET.trim()
    .split(/\s+/)
    .map((each) => new Webhook(each));
  const app = new Hono();

  app.post('/bot/webhook', async (c) => {
    const body = await c.req.text();
    if (!webhooks.some((webhook) => isSigned(webhook, body, c.req.header())))
      throw controlError(401, 'Invalid signature');
    const { success, output: event } = v.safeParse(BotEvent, body);
    if (!success) throw controlError(400, 'An event is {type, timestamp, data}');
    const { type, data } = event;
    const id = c.req.header('webhook-id') ?? '';
    if (store.get('bot-events', id)) return c.json({ received: true, seen: true });
    const mode = type === 'chat.message' ? chat.modeOf(data.phone ?? '') : 'accept';
    if (mode === 'silent') return new Promise<never>(() => {});
    if (mode === 'refuse') throw controlError(422, 'The bot refuses it');
    store.put('bot-events', id, event);
    if (type === 'chat.message') chat.accept(data as ChatMessageData);
    if (type === 'user.phone_changed' && typeof data['previousPhone'] === 'string')
      phones.add(data['previousPhone'].replace(/\D/g, ''), { from: 'solace', text: movedAway });
    if (type === 'user.deleted' && data.phone) phones.eraseChat(data.phone.replace(/\D/g, ''));
    return c.json({ received: true });
  });

  app.get('/bot/events', (c) => c.json(store.list('bot-events')));
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
