import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import * as v from 'valibot';
import { Webhook } from 'standardwebhooks';
import { readControl, controlError } from '../stripe/control.ts';
import { formatMoney } from '../stripe/currencies.ts';
import { canonical, numberOf, type Setup } from '../setup.ts';
import { ApiError, createApi } from './calls.ts';
import recordings from './recordings.json' with { type: 'json' };

type Voice = { seconds: number; type: string; bytes: number };
type ChatMessageData = {
  phone: string;
  messageId: string;
  text: string;
  locale?: string;
  voice?: Voice;
};

/** `answer` accepts and replies, `accept` only accepts, `silent` sends no HTTP response, `refuse` responds 422. */
const modes = ['answer', 'accept', 'silent', 'refuse'] as const;
type Mode = (typeof modes)[number];
const ModeControl = v.object({
  mode: v.picklist(modes),
  phone: v.optional(v.string()),
});

const flag = v.exactOptional(v.boolean());
const Reply = v.object({
  phone: v.string(),
  id: v.optional(v.string(), () => `reply-${crypto.randomUUID()}`),
  text: v.string(),
  replyTo: v.exactOptional(v.string()),
  crisis: flag,
  /** Speaks too: the same sentence each time. */
  voice: flag,
  /** Shows the text in pieces first. */
  typed: flag,
});
type Reply = v.InferOutput<typeof Reply>;

const retriesMs = [500, 2000, 5000];
/** Makes the typing indicator visible. */
const pauseMs = 300;
/** The number of pieces in which a typed reply appears. */
const pieces = 5;
const speech = recordings.find(({ type }) => type.startsWith('audio/ogg'))!;

type Chat = ReturnType<typeof createChat>;

/** The bot's part of the web conversation: accepted messages, and replies. */
export function createChat({ store, siteUrl, secrets }: Setup) {
  const callApi = createApi(siteUrl, secrets.BOT_WEBHOOK_SECRET);
  /** Handles the messages of a number one by one, so that replies keep their order. */
  const queues = new Map<string, Promise<void>>();
  const modeOfPhone = new Map<string, Mode>();
  let modeOfAll: Mode = 'answer';
  const modeOf = (phone: string) => modeOfPhone.get(digitsOf(phone)) ?? modeOfAll;

  /** The ids follow from the message, so that the API counts and shows it once, however often this runs. */
  async function reply({ phone, messageId, text, locale, voice }: ChatMessageData): Promise<void> {
    const call = <T>(path: string, input: object, id: string) =>
      withRetries(() => callApi<T>(path, input, id));
    await call('/api/bot/typing', { phone, seconds: 20 }, `typing_${messageId}`);
    if (voice) {
      await call('/api/bot/voice', { phone, id: messageId }, `voice_${messageId}`);
      // The local bot understands no speech: its transcript says how long the recording is.
      const transcript = {
        phone,
        id: messageId,
        text: `(A voice message of ${voice.seconds} s)`,
      };
      await call('/api/bot/transcripts', transcript, `transcript_${messageId}`);
    }
    const kind = voice ? 'voice' : 'text';
    const usage = await call<Usage>('/api/bot/usage', { phone, kind }, `usage_${messageId}`);
    await sleep(pauseMs, undefined, { ref: false });
    const crisis = /crisis/i.test(text);
    const own = repliesIn[locale ?? ''] ?? english;
    const written = {
      phone,
      id: `reply-${messageId}`,
      text: crisis ? own.crisis : replyTo(usage, voice !== undefined, siteUrl, own.kind),
      replyTo: messageId,
      ...(crisis && { crisis }),
      ...(voice && usage.voice && { voice: true }),
    };
    await withRetries(() => write(written));
  }

  async function write({ voice, typed, ...message }: Reply): Promise<object> {
    if (typed) await showInPieces(message);
    const spoken = voice && {
      voice: {
        ...speech,
        seconds: Math.ceil(speech.seconds),
      },
    };
    const result = await callApi<object>(
      '/api/bot/messages',
      { ...message, ...spoken },
      `message_${message.id}`,
    );
    store.put(`bot-replies:${digitsOf(message.phone)}`, message.id, {
      ...message,
      at: new Date().toISOString(),
    });
    return result;
  }

  /** Shows a growing part of the text, a few words at a time. */
  async function showInPieces({ phone, text }: Reply): Promise<void> {
    const words = text.split(/(?<=\s)/);
    const step = Math.max(1, Math.ceil(words.length / pieces));
    for (let end = step; end < words.length; end += step) {
      await callApi('/api/bot/typing', {
        phone,
        text: words.slice(0, end).join(''),
      });
      await sleep(pauseMs, undefined, { ref: false });
    }
  }

  const control = new Hono();
  control.get('/bot/:list{chat|replies}/:phone', (c) =>
    c.json(store.list(`bot-${c.req.param('list')}:${canonical(numberOf(c))}`)),
  );
  /** Sets the mode of one phone; without one, of all. */
  control.put('/bot/mode', async (c) => {
    const { mode, phone } = await readControl(c, ModeControl);
    if (phone) modeOfPhone.set(digitsOf(phone), mode);
    else {
      modeOfPhone.clear();
      modeOfAll = mode;
    }
    return c.json({ mode });
  });
  control.post('/bot/replies', async (c) => c.json(await write(await readControl(c, Reply))));

  return {
    control,
    modeOf,
    /** Stores a message; replies after a pause, unless the mode is `accept`. */
    accept(data: ChatMessageData): void {
      store.put(`bot-chat:${digitsOf(data.phone)}`, data.messageId, data);
      if (modeOf(data.phone) === 'accept') return;
      const before = queues.get(data.phone) ?? Promise.resolve();
      // The conversation may have been cleared, or the account deleted, meanwhile.
      const next = before
        .then(() => reply(data))
        .catch((error: unknown) => console.error(String(error)));
      queues.set(data.phone, next);
    },
  };
}

/** Retries while the API does not respond or is unavailable. */
async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (const ms of retriesMs) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiError) || (error.apiStatus !== null && error.apiStatus < 500))
        throw error;
      await sleep(ms, undefined, { ref: false });
    }
  }
  return work();
}

const digitsOf = (phone: string) => canonical(phone.replace(/\D/g, ''));

/** The fields of the API's response that determine the bot's reply. */
export type Usage = {
  allowed: boolean;
  used: number;
  limit: number;
  remaining: number;
  voice: boolean;
  resetsAt: string;
};

const english = {
  kind: [
    'Thank you for telling me. What feels heaviest right now?',
    'I hear you. Let us take this one step at a time.',
  ],
  crisis:
    'I am glad that you told me. You deserve help from a person right now: please call your local emergency number or a crisis line.',
};

/** By the `locale` of a message on the web. */
const repliesIn: Record<string, typeof english> = {
  es: {
    kind: [
      'Gracias por contármelo. ¿Qué es lo que más te pesa ahora?',
      'Te escucho. Vamos paso a paso.',
    ],
    crisis:
      'Me alegra que me lo cuentes. Ahora mereces la ayuda de una persona: llama al número de emergencias de tu país o a una línea de ayuda.',
  },
  'pt-BR': {
    kind: [
      'Agradeço por me contar. O que mais pesa agora?',
      'Estou te ouvindo. Vamos com calma, um passo de cada vez.',
    ],
    crisis:
      'Que bom que você me contou. Agora você merece a ajuda de uma pessoa: ligue para o número de emergência do seu país ou para uma linha de apoio.',
  },
};

/** The reply of Solace, or the reason why there is none. */
export function replyTo(
  usage: Usage,
  voice: boolean,
  siteUrl: string,
  replies = english.kind,
): string {
  if (usage.allowed) return replies[usage.used % replies.length] ?? '';
  if (voice && !usage.voice)
    return `Voice messages come with a paid plan. You can choose one here: ${siteUrl}/plans`;
  if (usage.remaining <= 0)
    return `You have used your weekly allowance of ${usage.limit} messages. A new week starts on ${weekday(usage.resetsAt)}. More messages: ${siteUrl}/plans`;
  return 'Your account is waiting for approval. I will be here for you as soon as it is done.';
}

const week = new Intl.DateTimeFormat('en-US', {
  weekday: 'long',
  month: 'long',
  day: 'numeric',
  timeZone: 'UTC',
});
const weekday = (iso: string) => week.format(new Date(iso));

const BotEvent = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    type: v.string(),
    timestamp: v.string(),
    data: v.looseObject({ phone: v.optional(v.string()) }),
  }),
);

/** Without the new number: the old one may be in other hands. */
const movedAway =
  'Your Solace account has a new number. If that was not you, write to our support at once.';

const Receipt = v.object({ receipt: v.string() });
/** `amount` is in whole cents of `currency`. */
const Refund = v.object({
  amount: v.pipe(v.number(), v.integer(), v.minValue(0)),
  currency: v.pipe(v.string(), v.length(3)),
});

/** What the person reads about a withdrawal from the contract. Throws for data that is not as documented. */
function withdrawalNotice(type: string, data: unknown): string | null {
  if (type === 'withdrawal.received') return parsed(Receipt, data).receipt;
  if (type !== 'withdrawal.refunded') return null;
  const { amount, currency } = parsed(Refund, data);
  return `Your refund of ${formatMoney(amount, currency)} is on its way to you.`;
}

function parsed<Data>(schema: v.GenericSchema<unknown, Data>, data: unknown): Data {
  const { success, output } = v.safeParse(schema, data);
  if (!success) throw controlError(422, 'The data of the event is not as documented');
  return output;
}

type Told = {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
};

const eventsAtOnce = 100;
const RequestedEvents = v.object({
  since: v.string(),
  after: v.optional(v.string()),
});

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
    const { type, timestamp, data } = event;
    if (type === 'events.requested') return c.json(eventsSince(data));
    const id = c.req.header('webhook-id') ?? '';
    if (store.get('bot-events', id))
      return c.json({
        received: true,
        seen: true,
      });
    const mode = type === 'chat.message' ? chat.modeOf(data.phone ?? '') : 'accept';
    if (mode === 'silent') return new Promise<never>(() => {});
    if (mode === 'refuse') throw controlError(422, 'The bot refuses it');
    const notice = withdrawalNotice(type, data);
    store.put('bot-events', id, event);
    if (type === 'chat.message') chat.accept(data as ChatMessageData);
    if (notice && data.phone)
      phones.add(data.phone.replace(/\D/g, ''), {
        from: 'solace',
        text: notice,
      });
    if (type === 'user.phone_changed' && typeof data['previousPhone'] === 'string')
      phones.add(data['previousPhone'].replace(/\D/g, ''), {
        from: 'solace',
        text: movedAway,
      });
    if (type === 'user.deleted' && data.phone)
      phones.eraseChat(data.phone.replace(/\D/g, ''), timestamp);
    return c.json({ received: true });
  });

  /** What was accepted since a time, and whose approval the bot has ended, a hundred at once. */
  function eventsSince(data: Record<string, unknown>) {
    const { since, after } = parsed(RequestedEvents, data);
    const isLater = ({ timestamp }: Told) => timestamp > since;
    const told = [...store.list<Told>('bot-events'), ...store.list<Told>('bot-ended-approvals')]
      .filter(({ type }) => type !== 'chat.message')
      .filter(isLater)
      .toSorted((a, b) => a.timestamp.localeCompare(b.timestamp));
    const from = Number(after ?? 0);
    const to = from + eventsAtOnce;
    return {
      events: told.slice(from, to),
      ...(to < told.length && { next: String(to) }),
    };
  }

  /** All, or those about a phone, from a place in their order on. */
  app.get('/bot/events', (c) => {
    const { phone, from } = c.req.query();
    const events = store.list<Told>('bot-events').slice(Number(from ?? 0));
    return c.json(phone ? events.filter(({ data }) => data['phone'] === phone) : events);
  });
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
