import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import * as v from 'valibot';
import { readControl } from '../controls.ts';
import { canonical, numberOf } from '../phones.ts';
import type { Setup } from '../setup.ts';
import type { Store } from '../store.ts';
import { ApiError, createApi } from './calls.ts';
import recordings from './recordings.json' with { type: 'json' };

type Voice = { seconds: number; type: string; bytes: number };
export type ChatMessageData = { phone: string; messageId: string; text: string; locale?: string; voice?: Voice };

/** `answer` accepts and replies, `accept` only accepts, `silent` sends no HTTP response, `refuse` responds 422. */
const modes = ['answer', 'accept', 'silent', 'refuse'] as const;
type Mode = (typeof modes)[number];
const ModeControl = v.object({ mode: v.picklist(modes), phone: v.optional(v.string()) });

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

/** The bot's part of the web conversation: accepted messages, and replies. */
export class Chat {
  readonly control = new Hono();
  readonly #store: Store;
  readonly #siteUrl: string;
  readonly #callApi: ReturnType<typeof createApi>;
  /** Handles the messages of a number one by one, so that replies keep their order. */
  readonly #queues = new Map<string, Promise<void>>();
  readonly #ofPhone = new Map<string, Mode>();
  #ofAll: Mode = 'answer';

  constructor({ store, siteUrl, secrets }: Setup) {
    this.#store = store;
    this.#siteUrl = siteUrl;
    this.#callApi = createApi(siteUrl, secrets.BOT_WEBHOOK_SECRET);
    this.control.get('/bot/:list{chat|replies}/:phone', (c) =>
      c.json(store.list(`bot-${c.req.param('list')}:${canonical(numberOf(c))}`)),
    );
    this.control.get('/bot/mode', (c) => c.json({ mode: this.#ofAll }));
    this.control.put('/bot/mode', async (c) => {
      const { mode, phone } = await readControl(c, ModeControl, `{mode: ${modes.join(' | ')}, phone?}`);
      this.#setMode(mode, phone);
      return c.json({ mode });
    });
    this.control.post('/bot/replies', async (c) =>
      c.json(await this.#write(await readControl(c, Reply, '{phone, text, crisis?, voice?, typed?}'))),
    );
  }

  modeOf(phone: string): Mode {
    return this.#ofPhone.get(digitsOf(phone)) ?? this.#ofAll;
  }

  /** The mode of one phone; without one, of all. */
  #setMode(mode: Mode, phone?: string): void {
    if (phone) {
      this.#ofPhone.set(digitsOf(phone), mode);
      return;
    }
    this.#ofPhone.clear();
    this.#ofAll = mode;
  }

  /** Stores a message; replies after a pause, unless the mode is `accept`. */
  accept(data: ChatMessageData): void {
    this.#store.put(`bot-chat:${digitsOf(data.phone)}`, data.messageId, data);
    if (this.modeOf(data.phone) === 'accept') return;
    const before = this.#queues.get(data.phone) ?? Promise.resolve();
    // The conversation may have been cleared, or the account deleted, meanwhile.
    const next = before.then(() => this.#reply(data)).catch((error: unknown) => console.error(String(error)));
    this.#queues.set(data.phone, next);
  }

  /** The ids follow from the message, so that the API counts and shows it once, however often this runs. */
  async #reply({ phone, messageId, text, locale, voice }: ChatMessageData): Promise<void> {
    const call = <T>(path: string, input: object, id?: string) => withRetries(() => this.#callApi<T>(path, input, id));
    await call('/api/bot/typing', { phone, seconds: 20 }, `typing_${messageId}`);
    if (voice) {
      await call('/api/bot/voice', { phone, id: messageId });
      // The local bot understands no speech: its transcript says how long the recording is.
      const transcript = { phone, id: messageId, text: `(A voice message of ${voice.seconds} s)` };
      await call('/api/bot/transcripts', transcript, `transcript_${messageId}`);
    }
    const kind = voice ? 'voice' : 'text';
    const usage = await call<Usage>('/api/bot/usage', { phone, kind }, `usage_${messageId}`);
    await sleep(pauseMs, undefined, { ref: false });
    const crisis = /crisis/i.test(text);
    const own = repliesIn[locale ?? ''] ?? english;
    const reply = {
      phone,
      id: `reply-${messageId}`,
      text: crisis ? own.crisis : replyTo(usage, voice !== undefined, this.#siteUrl, own.kind),
      replyTo: messageId,
      ...(crisis && { crisis }),
      ...(voice && usage.voice && { voice: true }),
    };
    await withRetries(() => this.#write(reply));
  }

  async #write({ voice, typed, ...reply }: Reply): Promise<object> {
    if (typed) await this.#showInPieces(reply);
    const spoken = voice && { voice: { ...speech, seconds: Math.ceil(speech.seconds) } };
    const result = await this.#callApi<object>('/api/bot/messages', { ...reply, ...spoken }, `message_${reply.id}`);
    this.#store.put(`bot-replies:${digitsOf(reply.phone)}`, reply.id, { ...reply, at: new Date().toISOString() });
    return result;
  }

  /** Shows a growing part of the text, a few words at a time. */
  async #showInPieces({ phone, text }: Reply): Promise<void> {
    const words = text.split(/(?<=\s)/);
    const step = Math.max(1, Math.ceil(words.length / pieces));
    for (let end = step; end < words.length; end += step) {
      await this.#callApi('/api/bot/typing', { phone, text: words.slice(0, end).join('') });
      await sleep(pauseMs, undefined, { ref: false });
    }
  }
}

/** Retries while the API does not respond or is unavailable. */
async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (const ms of retriesMs) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiError) || (error.apiStatus !== null && error.apiStatus < 500)) throw error;
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
    'That sounds like a lot to carry. I am glad you wrote.',
    'I am here. Would it help to name what you are feeling?',
    'Take a slow breath with me. What would a good friend say to you now?',
  ],
  crisis:
    'I am glad that you told me. You deserve help from a person right now: please call your local emergency number or a crisis line.',
};

/** By the `locale` of a message on the web. */
const repliesIn: Record<string, typeof english> = {
  es: {
    kind: ['Gracias por contármelo. ¿Qué es lo que más te pesa ahora?', 'Te escucho. Vamos paso a paso.'],
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
export function replyTo(usage: Usage, voice: boolean, siteUrl: string, replies = english.kind): string {
  if (usage.allowed) return replies[usage.used % replies.length] ?? '';
  if (voice && !usage.voice) return `Voice messages come with a paid plan. You can choose one here: ${siteUrl}/plans`;
  if (usage.remaining <= 0)
    return `You have used your weekly allowance of ${usage.limit} messages. A new week starts on ${weekday(usage.resetsAt)}. More messages: ${siteUrl}/plans`;
  return 'Your account is waiting for approval. I will be here for you as soon as it is done.';
}

const week = new Intl.DateTimeFormat('en-US', { weekday: 'long', month: 'long', day: 'numeric', timeZone: 'UTC' });
const weekday = (iso: string) => week.format(new Date(iso));
