import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { Store } from './store.ts';

/** The canonical spelling: numbers of Mexico, Argentina and Brazil exist with and without a mobile digit. */
export function canonical(digits: string): string {
  if (/^521\d{10}$/.test(digits)) return `52${digits.slice(3)}`;
  if (/^549\d{10}$/.test(digits)) return `54${digits.slice(3)}`;
  if (/^55\d\d9\d{8}$/.test(digits)) return digits.slice(0, 4) + digits.slice(5);
  return digits;
}

/** The digits of a path's `:phone`, in any spelling; undefined if it is no number. */
export function numberOf(c: Context): string | undefined {
  const digits = (c.req.param('phone') ?? '').replace(/[\s+().-]/g, '');
  return /^\d{5,20}$/.test(digits) ? digits : undefined;
}

/** What WhatsApp tells the bot instead of a hidden number: an id that is always the same. */
export function businessUserIdOf(number: string): string {
  return `US.${createHash('sha256').update(canonical(number)).digest('hex').slice(0, 20)}`;
}

export type Message = {
  id: string;
  /** ISO 8601, UTC. */
  at: string;
  from: 'user' | 'solace';
  text: string;
  code?: string;
  url?: string;
  voice?: true;
};

/** `number` is the WhatsApp id, digits only; times are unix ms. */
export type Phone = { number: string; lastAt: number; lastWroteAt?: number; unreachable?: boolean; hidden?: boolean };

type Kept = { message: Message; chat: boolean };
type Draft = {
  from: Message['from'];
  text: string;
  code?: string;
  voice?: true;
  /** Part of the conversation with the bot. */
  chat?: boolean;
};

export type Phones = ReturnType<typeof createPhones>;

/** All handsets by their exact WhatsApp id: another spelling is another handset. */
export function createPhones(store: Store) {
  const find = (number: string) => store.get<Phone>('phones', number);

  return {
    find,
    recent: () => store.list<Phone>('phones').toSorted((a, b) => b.lastAt - a.lastAt),
    messages: (number: string) => store.list<Kept>(inbox(number)).map(({ message }) => message),

    /** Adds a message to the handset, with its code and first link extracted. */
    add(number: string, { chat = false, ...draft }: Draft): Message {
      const message = { id: crypto.randomUUID(), at: new Date().toISOString(), ...draft, ...extract(draft) };
      store.transaction(() => {
        store.put(inbox(number), message.id, { message, chat } satisfies Kept);
        store.put('phones', number, seen(find(number), number, draft.from));
      });
      return message;
    },

    /** Sets whether WhatsApp reaches the handset (messages sent meanwhile are lost), or hides its number from the bot. */
    set(number: string, change: Pick<Phone, 'unreachable' | 'hidden'>): void {
      store.put('phones', number, { number, lastAt: Date.now(), ...find(number), ...change } satisfies Phone);
    },

    /** Removes the conversation with the bot from the person's handset; template messages stay. */
    eraseChat(number: string): void {
      const own = store.list<Phone>('phones').filter((phone) => canonical(phone.number) === canonical(number));
      store.transaction(() => own.forEach((phone) => eraseChatOf(store, phone)));
    },
  };
}

function eraseChatOf(store: Store, { number }: Phone): void {
  const chat = store.list<Kept>(inbox(number)).filter((kept) => kept.chat);
  chat.forEach(({ message }) => store.delete(inbox(number), message.id));
}

function inbox(number: string): string {
  return `phone:${number}`;
}

function seen(known: Phone | undefined, number: string, from: Message['from']): Phone {
  const now = Date.now();
  if (from === 'user') return { ...known, number, lastAt: now, lastWroteAt: now };
  return { ...known, number, lastAt: now };
}

function extract({ from, text, code }: Omit<Draft, 'chat'>): Pick<Message, 'code' | 'url'> {
  if (from === 'user') return {};
  const url = /https?:\/\/\S+[^\s.,;:!?)]/.exec(text)?.[0];
  if (url) return { url };
  const found = code ?? /(?<!\d)\d{6}(?!\d)/.exec(text)?.[0];
  return found ? { code: found } : {};
}
