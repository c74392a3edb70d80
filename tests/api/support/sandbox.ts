import { createClient } from '@libsql/client/web';
import { expect } from 'vitest';
import { vars } from './api.ts';
import { day, eventually } from './clock.ts';

type Flags = Record<'drop' | 'cut' | 'hold' | 'remember' | 'unknownCustomer' | 'writes', true>;
type Texts = Record<'path' | 'match' | 'location', string>;
type Fault = Partial<
  Flags &
    Texts & {
      status: number;
      code: string | number;
    }
> | null;
export type Faults = Partial<
  Record<'libsql' | 'stripe' | 'whatsapp' | 'bot' | 'push' | 'mail', Fault>
>;
type Renewals = {
  retries?: 'two-weeks' | 'five-days';
  afterRetries?: 'cancel' | 'unpaid' | 'past_due';
};
export type PushSubscription = {
  endpoint: string;
  keys: { p256dh: string; auth: string };
};
type BotEvent = {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
};
type Message = {
  id: string;
  from: 'user' | 'solace';
  text: string;
  code?: string;
  url?: string;
};

async function control<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${vars.SANDBOX}${path}`, {
    method,
    headers,
    body: JSON.stringify(body),
  });
  if (!response.ok)
    throw new Error(`${method} ${path} responded ${response.status}: ${await response.text()}`);
  return response.json();
}

/** Something of the person with a number, by its address. */
const ofPhone = (kind: string, phone: string, part = '') =>
  `/${kind}/${encodeURIComponent(phone)}${part}`;
const customer = (phone: string, part: string) => ofPhone('stripe/customers', phone, part);

let isChanged = false;

/** Changes how the local services behave, until the test ends. */
function change(path: string, body: unknown): Promise<unknown> {
  isChanged = true;
  return control('PUT', path, body);
}

/** Undoes what `faults` and `botMode` changed. */
export async function restoreServices(): Promise<void> {
  if (!isChanged) return;
  const none = {
    libsql: null,
    stripe: null,
    whatsapp: null,
    bot: null,
    push: null,
    mail: null,
  };
  await sandbox.faults(none);
  await sandbox.botMode('accept');
  isChanged = false;
}

/** Does work while the services fail. */
export async function during<T>(faults: Faults, work: () => Promise<T>): Promise<T> {
  await sandbox.faults(faults);
  try {
    return await work();
  } finally {
    await sandbox.faults(Object.fromEntries(Object.keys(faults).map((service) => [service, null])));
  }
}

/** The control calls of the local services. */
export const sandbox = {
  messages: (phone: string) => control<Message[]>('GET', ofPhone('phones', phone, '/messages')),
  externalToken: (phone: string, body: unknown = {}) =>
    control<{ token: string }>('POST', ofPhone('phones', phone, '/external-token'), body),
  /** The events that the bot accepted, of one phone or of all, from a place in their order on. */
  botEvents: ({
    phone,
    from = 0,
  }: {
    phone?: string;
    from?: number;
  } = {}) =>
    control<BotEvent[]>(
      'GET',
      `/bot/events?from=${from}${phone ? `&phone=${encodeURIComponent(phone)}` : ''}`,
    ),
  faults: (faults: Faults) => change('/faults', faults),
  /** The number of requests that a fault with `hold` and this `match` holds. */
  heldBy: async (match: string) => {
    const faults = await control<
      {
        match: string | null;
        held: number;
      }[]
    >('GET', '/faults/held');
    return faults.find((each) => each.match === match)?.held ?? 0;
  },
  /** Never `answer`: no server runs at the site's address, so the local bot cannot call the API. */
  botMode: (mode: 'accept' | 'silent' | 'refuse', phone?: string) =>
    change('/bot/mode', { mode, phone }),
  /** A browser that has subscribed to the local push service with the Worker's key. */
  newBrowser: (phone: string) =>
    control<PushSubscription>('POST', ofPhone('push', phone), {
      publicKey: vars.VAPID_KEYS!.split(':')[0],
    }),
  /** The notices that the number's browsers have received, oldest first. */
  notices: (phone: string) =>
    control<
      {
        title: string;
        path: string;
        topic: string;
      }[]
    >('GET', ofPhone('push', phone)),
  /** The mails to an address, oldest first. */
  mails: (address: string) =>
    control<
      {
        from: string;
        subject: string;
        text: string;
      }[]
    >('GET', ofPhone('mail', address)),
  /** Time passes at Stripe for the customer with a number alone. */
  advanceStripe: (phone: string, seconds: number) =>
    control('POST', '/stripe/clock', { advanceSeconds: seconds, phone }),
  card: (phone: string, declines: boolean) =>
    control('POST', customer(phone, '/card'), { declines }),
  /** The bank disputes the last payment, or the one of a charge. */
  dispute: (phone: string, charge?: string) =>
    control<{ id: string }>('POST', customer(phone, '/dispute'), { charge }),
  /** What the owner sets in Stripe's Dashboard. */
  stripeDashboard: (settings: object) => control('PUT', '/stripe/dashboard', settings),
  /** How the next refunds of the customer go. */
  refunds: (phone: string, outcome: string) =>
    control('PUT', customer(phone, '/refunds'), { outcome }),
  authenticate: (phone: string, succeeds: boolean) =>
    control('POST', customer(phone, '/authenticate'), { succeeds }),
  /** How Stripe collects the renewals of the customer with a number. */
  stripeSettings: (phone: string, settings: Renewals) =>
    control('PUT', '/stripe/settings', { ...settings, phone }),
};

/** The events that the bot accepted about a number, oldest first. */
export async function eventsAbout(phone: string, type?: string) {
  const events = await sandbox.botEvents({ phone });
  return events.filter((event) => type === undefined || event.type === type);
}

/** The events about a number when the bot has accepted all that were written, oldest first. */
export async function deliveredEvents(phone: string) {
  await eventually(async () => expect(await outboxOf(phone)).toEqual([]));
  return eventsAbout(phone);
}

/** The events about a number that the bot has not accepted, oldest first. */
export const outboxOf = async (phone: string) =>
  (await database.execute('select * from outbox where phone = ? order by seq', [phone])).rows;

/** Waits until the only event of a number is parked. */
export const untilParked = (phone: string) =>
  eventually(async () =>
    expect(await outboxOf(phone)).toMatchObject([{ parked_at: expect.any(Number) }]),
  );

/** The newest code on a phone. */
export async function newestCode(phone: string): Promise<string> {
  const messages = await sandbox.messages(phone);
  return messages.findLast((message) => message.code)!.code!;
}

const realFetch = globalThis.fetch;

/** Direct access to the database, for facts and states that the API does not offer; a test's spies see none of it. */
export const database = createClient({
  url: vars.TURSO_DATABASE_URL!,
  authToken: vars.TURSO_AUTH_TOKEN!,
  fetch: (request: Request) => realFetch(request),
});

export const run = (sql: string, ...args: (string | number)[]) =>
  database.execute({
    sql,
    args,
  });

/** The row of the user with a number. */
export async function userRowOf({ phone }: { phone: string }) {
  const { rows } = await run('select * from users where phone = ?', phone);
  return rows[0]!;
}

/** What has been counted on the present day; a test that reads it has a day of its own. */
export async function totalsOfToday() {
  const sql = 'select kind, detail, n from daily_totals where day = ? order by kind, detail';
  return (await run(sql, Math.floor(Date.now() / day))).rows.map((row) => ({ ...row }));
}

/** Every value of every row of the database as text, with the column that it stands in. */
export async function everyValue(): Promise<
  {
    column: string;
    text: string;
  }[]
> {
  const { rows: tables } = await database.execute(
    "select name from sqlite_master where type = 'table'",
  );
  const contents = await Promise.all(
    tables.map(async (table) => {
      const name = table['name'] as string;
      const { columns, rows } = await database.execute(`select * from "${name}"`);
      return rows.flatMap((row) =>
        columns.map((column) => ({
          column: `${name}.${column}`,
          text: textOf(row[column]),
        })),
      );
    }),
  );
  return contents.flat();
}

/** The columns of the database in which one of the texts stands. */
export async function columnsWith(texts: string[]): Promise<string[]> {
  const found = (await everyValue()).filter(({ text }) =>
    texts.some((each) => text.includes(each)),
  );
  return [...new Set(found.map(({ column }) => column))].toSorted();
}

/** A value of a row, bytes decoded. */
export const textOf = (value: unknown) =>
  value instanceof ArrayBuffer ? new TextDecoder().decode(value) : JSON.stringify(value ?? null);
