import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { controlError } from './stripe/control.ts';
import type { Store } from './stripe/store.ts';

/** The secrets that the Worker and the local services share, under the names of `.dev.vars`. */
export type SandboxSecrets = Record<
  | 'TURSO_AUTH_TOKEN'
  | 'WHATSAPP_PHONE_NUMBER_ID'
  | 'WHATSAPP_TOKEN'
  | 'WHATSAPP_TEMPLATE_NAME'
  | 'WHATSAPP_TEMPLATE_LANGUAGE'
  | 'BOT_WEBHOOK_SECRET'
  | 'EXTERNAL_TOKEN_ISSUER'
  | 'EXTERNAL_TOKEN_AUDIENCE'
  | 'STRIPE_SECRET_KEY'
  | 'STRIPE_WEBHOOK_SECRET'
  | 'MAIL_API_KEY'
  | 'MAIL_FROM',
  string
> & {
  /** Without it WhatsApp reports nothing. */
  WHATSAPP_APP_SECRET?: string;
};

export type SandboxSettings = {
  /** 0 selects a free port. */
  port: number;
  /** Used by the sandbox alone. */
  stateDir: string;
  /** The Worker's address for calls of the bot and Stripe. */
  siteUrl: string;
  secrets: SandboxSecrets;
};

/** What the local services share. */
export type Setup = Pick<SandboxSettings, 'siteUrl' | 'secrets'> & {
  sandboxUrl: string;
  store: Store;
  phones: Phones;
};

/** The canonical spelling: numbers of Mexico, Argentina and Brazil exist with and without a mobile digit. */
export function canonical(digits: string): string {
  if (/^521\d{10}$/.test(digits)) return `52${digits.slice(3)}`;
  if (/^549\d{10}$/.test(digits)) return `54${digits.slice(3)}`;
  if (/^55\d\d9\d{8}$/.test(digits)) return digits.slice(0, 4) + digits.slice(5);
  return digits;
}

/** The digits of a path's `:phone`, in any spelling. Throws a 400 if it is no number. */
export function numberOf(c: Context): string {
  const digits = (c.req.param('phone') ?? '').replace(/[\s+().-]/g, '');
  if (/^\d{5,20}$/.test(digits)) return digits;
  throw controlError(400, 'A phone is a number with its country code, such as +15551234567');
}

/** What WhatsApp tells the bot instead of a hidden number: an id that is always the same. */
export function businessUserIdOf(number: string): string {
  return `US.${createHash('sha256').update(canonical(number)).digest('hex').slice(0, 20)}`;
}

type Draft = {
  from: 'user' | 'solace';
  text: string;
  code?: string;
  voice?: true;
};
/** `at` is ISO 8601, UTC. */
type Message = Draft & { id: string; at: string; url?: string };
/** `number` is the WhatsApp id, digits only; `lastAt` is in unix ms. */
type Phone = { number: string; lastAt: number; hidden?: boolean };

type Phones = ReturnType<typeof createPhones>;

/** All handsets by their exact WhatsApp id: another spelling is another handset. */
export function createPhones(store: Store) {
  const inbox = (number: string) => `phone:${number}`;
  const find = (number: string) => store.get<Phone>('phones', number);
  const put = (number: string, change: Partial<Phone>) =>
    store.put('phones', number, {
      number,
      lastAt: Date.now(),
      ...find(number),
      ...change,
    } satisfies Phone);

  return {
    find,
    recent: () => store.list<Phone>('phones').toSorted((a, b) => b.lastAt - a.lastAt),
    messages: (number: string) => store.list<Message>(inbox(number)),

    /** Adds a message to the handset, with the first link of one from Solace. */
    add(number: string, draft: Draft, id: string = crypto.randomUUID()): void {
      const url = draft.from === 'solace' && /https?:\/\/\S+[^\s.,;:!?)]/.exec(draft.text)?.[0];
      const message: Message = {
        id,
        at: new Date().toISOString(),
        ...draft,
        ...(url && { url }),
      };
      store.transaction(() => {
        store.put(inbox(number), id, message);
        put(number, { lastAt: Date.now() });
      });
    },

    /** Sets whether WhatsApp hides the number from the bot. */
    hide: (number: string, hidden: boolean) => put(number, { hidden }),

    /** Removes the conversation with the bot until `end` (ISO 8601, UTC) from the person's handsets; messages with a code stay. */
    eraseChat(person: string, end: string): void {
      const own = store
        .list<Phone>('phones')
        .filter(({ number }) => canonical(number) === canonical(person));
      store.transaction(() => {
        for (const { number } of own)
          for (const { id, at, code } of store.list<Message>(inbox(number)))
            if (!code && at <= end) store.delete(inbox(number), id);
      });
    },
  };
}
