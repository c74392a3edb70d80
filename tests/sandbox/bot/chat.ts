import { Hono } from 'hono';
import * as v from 'valibot';
import { readControl } from '../controls.ts';
import { canonical, numberOf } from '../phones.ts';
import type { Store } from '../store.ts';
import { ApiError, createApi } from './calls.ts';
import recordings from './recordings.json' with { type: 'json' };

type Voice = { seconds: number; type: string; bytes: number };
export type ChatMessageData = { phone: string; messageId: string; text: string; locale?: string; voice?: Voice };
export type Chat = ReturnType<typeof createChat>;

/** `answer` accepts and replies, `accept` only accepts, `silent` sends no HTTP response, `refuse` responds 422. */
const modes = ['answer', 'accept', 'silent', 'refuse'] as const;
type Mode = (typeof modes)[number];
const ModeControl = v.object({ mode: v.picklist(modes), phone: v.optional(v.string()) });

type Reply = {
  phone: string;
  id: string;
  text: string;
  replyTo?: string;
  crisis?: boolean;
  /** Speaks too: the same sentence each time. */
  voice?: boolean;
  /** Shows the text in pieces first. */
  typed?: boolean;
};
/** `pauseMs` makes the typing indicator visible. */
type ChatSettings = { store: Store; siteUrl: string; secret: string; pauseMs?: number };

const retriesMs = [500, 2000, 5000];
/** The number of pieces in which a typed reply appears. */
const pieces = 5;
const speech = recordings.find(({ type }) => type.startsWith('audio/ogg'))!;

/** The bot's part of the web conversation: accepted messages, and replies. */
export function createChat({ store, siteUrl, secret, pauseMs = 300 }: ChatSettings) {
  const callApi = createApi(siteUrl, secret);
  /** Handles the messages of a number one by one, so that replies keep their order. */
  const queues = new Map<string, Promise<void>>();
  const ofPhone = new Map<string, Mode>();
  let ofAll: Mode = 'answer';
  const modeOf = (phone: string) => ofPhone.get(digitsOf(phone)) ?? ofAll;

  /** The ids follow from the message, so that the API counts and shows it once, however often this runs. */
  async function replyToMessage({ phone, messageId, text, locale, voice }: ChatMessageData): Promise<void> {
    await withRetries(() => callApi('/api/bot/typing', { phone, seconds: 20 }, `typing_${messageId}`));
    if (voice) await transcribe(phone, messageId, voice);
    const kind = voice ? 'voice' : 'text';
    const usage = await withRetries(() => callApi<Usage>('/api/bot/usage', { phone, kind }, `usage_${messageId}`));
    await pause(pauseMs);
    const crisis = /crisis/i.test(text);
    const own = repliesIn[locale ?? ''] ?? english;
    const reply = usage.allowed ? kindReply(usage, own.kind) : replyTo(usage, voice !== undefined, siteUrl);
    const words = crisis ? own.crisis : reply;
    await withRetries(() =>
      write({
        phone,
        id: `reply-${messageId}`,
        text: words,
        replyTo: messageId,
        ...(crisis && { crisis }),
        ...(voice && usage.voice && { voice: true }),
      }),
    );
  }

  /** The local bot understands no speech: its transcript says how long the recording is. */
  async function transcribe(phone: string, id: string, { seconds }: Voice): Promise<void> {
    await withRetries(() => callApi('/api/bot/voice', { phone, id }));
    const text = `(A voice message of ${seconds} s)`;
    await withRetries(() => callApi('/api/bot/transcripts', { phone, id, text }, `transcript_${id}`));
  }

  /** Shows a growing part of the text, a few words at a time. */
  async function writeInPieces({ phone, text }: Reply): Promise<void> {
    const words = text.split(/(?<=\s)/);
    const step = Math.max(1, Math.ceil(words.length / pieces));
    for (let end = step; end < words.length; end += step) {
      await callApi('/api/bot/typing', { phone, text: words.slice(0, end).join('') });
      await pause(pauseMs);
    }
  }

  async function write({ voice, typed, ...reply }: Reply): Promise<object> {
    if (typed) await writeInPieces(reply);
    const spoken = voice && { voice: { ...speech, seconds: Math.ceil(speech.seconds) } };
    const result = await callApi<object>('/api/bot/messages', { ...reply, ...spoken }, `message_${reply.id}`);
    store.put(`bot-replies:${digitsOf(reply.phone)}`, reply.id, { ...reply, at: new Date().toISOString() });
    return result;
  }

  return {
    modeOf,
    /** Stores a message; replies after a pause, unless the mode is `accept`. */
    accept(data: ChatMessageData): void {
      store.put(`bot-chat:${digitsOf(data.phone)}`, data.messageId, data);
      if (modeOf(data.phone) === 'accept') return;
      const before = queues.get(data.phone) ?? Promise.resolve();
      // The conversation may have been cleared, or the account deleted, meanwhile.
      const next = before.then(() => replyToMessage(data)).catch((error: unknown) => console.error(String(error)));
      queues.set(data.phone, next);
    },
    control: control({
      list: (number) => store.list(`bot-chat:${canonical(number)}`),
      replies: (number) => store.list(`bot-replies:${canonical(number)}`),
      write,
      getMode: () => ofAll,
      setMode(mode, phone) {
        if (phone) {
          ofPhone.set(digitsOf(phone), mode);
          return;
        }
        ofPhone.clear();
        ofAll = mode;
      },
    }),
  };
}

type Actions = {
  list: (number: string) => unknown[];
  replies: (number: string) => unknown[];
  write: (reply: Reply) => Promise<object>;
  getMode: () => Mode;
  /** Of one phone; without one, of all. */
  setMode: (mode: Mode, phone?: string) => void;
};

function control({ list, replies, write, getMode, setMode }: Actions): Hono {
  const app = new Hono();
  app.get('/bot/chat/:phone', (c) => c.json(list(numberOf(c) ?? '')));
  app.get('/bot/replies/:phone', (c) => c.json(replies(numberOf(c) ?? '')));
  app.get('/bot/mode', (c) => c.json({ mode: getMode() }));
  app.put('/bot/mode', async (c) => {
    const { mode, phone } = await readControl(c, ModeControl, `{mode: ${modes.join(' | ')}, phone?}`);
    setMode(mode, phone);
    return c.json({ mode });
  });
  app.post('/bot/replies', async (c) => {
    const reply = await c.req.json<Omit<Reply, 'id'>>();
    return c.json(await write({ id: `reply-${crypto.randomUUID()}`, ...reply }));
  });
  app.onError((error, c) => {
    if (!(error instanceof ApiError)) throw error;
    const { message, path, status, response } = error;
    return c.json({ error: message, call: path, status, response }, 502);
  });
  return app;
}

/** Retries while the API does not respond or is unavailable. */
async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (const ms of retriesMs) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiError) || (error.status !== null && error.status < 500)) throw error;
      await pause(ms);
    }
  }
  return work();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

function digitsOf(phone: string): string {
  return canonical(phone.replace(/\D/g, ''));
}

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

const kindReply = ({ used }: Usage, replies: string[]) => replies[used % replies.length] ?? '';

/** The reply of Solace, or the reason why there is none. */
export function replyTo(usage: Usage, voice: boolean, siteUrl: string): string {
  if (usage.allowed) return kindReply(usage, english.kind);
  if (voice && !usage.voice) return `Voice messages come with a paid plan. You can choose one here: ${siteUrl}/plans`;
  if (usage.remaining <= 0)
    return `You have used your weekly allowance of ${usage.limit} messages. A new week starts on ${weekday(usage.resetsAt)}. More messages: ${siteUrl}/plans`;
  return 'Your account is waiting for approval. I will be here for you as soon as it is done.';
}

function weekday(iso: string): string {
  return new Intl.DateTimeFormat('en-US', { weekday: 'long', month: 'long', day: 'numeric', timeZone: 'UTC' }).format(
    new Date(iso),
  );
}
