import { sql, type SQL } from 'drizzle-orm';
import type { PhoneNumber } from '#db/schema';
import { batch, type Database } from '../lib/database.ts';
import { log, phoneTag } from '../lib/log.ts';
import type { Settings } from '../settings.ts';
import { cancelledBody } from './outbox.ts';
import { dayMs } from '../lib/time.ts';
import { Webhook } from 'standardwebhooks';

/** A row of the outbox; `messageId` if the body refers to a message that is stored elsewhere. */
export type OutboxEvent = {
  seq: number;
  id: string;
  /** Null in an event of a deleted account that waited for the owner. */
  userId: string | null;
  phone: PhoneNumber;
  body: string;
  attempts: number;
  messageId: string | null;
  createdAt: number;
};

/** The whole body, and the id of an earlier message that the bot has not accepted yet. */
type OpenedMessage = { body: string; sentBefore: string | null };

export type MessageEvents = {
  /** `settled`: nothing is left to send; `absent`: no message exists; `unready`: it may still be stored or sent again. */
  open: (event: OutboxEvent) => Promise<OpenedMessage | keyof typeof outcomes>;
  close: (event: OutboxEvent, state: 'delivered' | 'failed') => Promise<void>;
};

export type Outbox = { db: Database; settings: Settings; messages: MessageEvents | null };
type Outcome = 'done' | 'absent' | 'retry' | 'park' | 'behind';
/** Of a message that is not sent. A failed one with an event in the queue was given up by a request that was killed. */
const outcomes = { settled: 'done', absent: 'absent', unready: 'retry', failed: 'park' } as const;

/** Pauses before the two attempts. The second attempt is for a message that waits behind an event in delivery. */
const pausesMs = [250, 2000];
export const leaseMs = 30_000;
/** Of a parked event: later than any `now`, so that the index of due events excludes it. */
export const neverDue = Number.MAX_SAFE_INTEGER;
const patienceMs = 20_000;
/** The platform lets a request hold six connections, and the database takes one. */
const atOnce = 5;
/** The cron job runs every minute; the longest delay is an hour. */
const delaysMs = [5_000, 15_000, 30_000, 45_000, 60_000, 120_000, 300_000, 900_000, 3_600_000];

const columns = sql.raw(
  'seq, id, user_id as userId, phone, body, attempts, message_id as messageId, created_at as createdAt',
);

/** Sends the bot the events about one user, after a short pause so that the response is sent first. */
export async function deliverSoon(
  db: Database,
  settings: Settings,
  userId: string,
  messages: MessageEvents | null = null,
): Promise<void> {
  if (!settings.BOT_WEBHOOK_URL) return;
  const outbox = { db, settings, messages };
  for (const ms of messages ? pausesMs : pausesMs.slice(0, 1)) {
    await scheduler.wait(ms);
    const events = await db.all<OutboxEvent>(lease(outbox, 1, userId));
    if (events.length > 0) return follow(outbox, events, userId);
  }
}

/** Sends the leased event and those after it, after the response: a message costs 1.17, not 1.28 (tests/bench). */
export async function deliverLeased(outbox: Outbox, event: OutboxEvent): Promise<void> {
  await scheduler.wait(0);
  await follow(outbox, [event], event.userId!);
}

export async function deliverOutbox(outbox: Outbox): Promise<void> {
  if (!outbox.settings.BOT_WEBHOOK_URL) return;
  const events = await outbox.db.all<OutboxEvent>(lease(outbox, atOnce));
  await Promise.all(events.map((event) => follow(outbox, [event])));
}

export async function expireMessages(outbox: Outbox, now: number): Promise<void> {
  const blocked = sql`select ${columns} from outbox where due_at <= ${now - dayMs} and message_id is not null
    and leased_until <= ${now} order by due_at limit 50`;
  for (const event of await outbox.db.all<OutboxEvent>(blocked)) {
    // An object that does not respond must not delay the others; the next run retries it.
    const outcome = await giveUp(outbox, event, 'expired').catch(() => null);
    if (outcome) await outbox.db.run(settledSql(event, outcome, now));
  }
}

async function follow(outbox: Outbox, leased: OutboxEvent[], userId?: string): Promise<void> {
  const until = Date.now() + patienceMs;
  let [event] = leased;
  while (event) {
    const statement = settledSql(event, await send(outbox, event), Date.now());
    const settle = {
      settled: outbox.db.run(statement),
      removed: outbox.db.run(removeCancelled(event)),
    };
    if (Date.now() > until) return void (await batch(outbox.db, settle));
    const { next } = await batch(outbox.db, {
      ...settle,
      next: outbox.db.all<OutboxEvent>(lease(outbox, 1, userId)),
    });
    [event] = next;
  }
}

/** SQL that leases the oldest due event of each user unless another request delivers one, which keeps their order. */
function lease({ messages }: Outbox, most: number, userId?: string): SQL {
  const now = Date.now();
  const whose = userId === undefined ? sql`` : sql`and user_id = ${userId}`;
  const which = messages ? sql`` : sql`and message_id is null`;
  return sql`update outbox set leased_until = ${now + leaseMs}, attempts = attempts + 1
    where seq in (select seq from outbox o where due_at <= ${now} and leased_until <= ${now} ${whose} ${which}
      and not exists (select 1 from outbox earlier
        where earlier.user_id = o.user_id and earlier.seq < o.seq and earlier.parked_at is null)
      order by due_at limit ${sql.raw(String(most))})
    returning ${columns}`;
}

async function send(outbox: Outbox, event: OutboxEvent): Promise<Outcome> {
  if (event.body === cancelledBody) return 'done';
  if (!event.messageId) {
    const result = await postEvent(outbox.settings, event.id, event.body);
    if (result === 'refused') await logParked(outbox, event, 'refused');
    return ({ taken: 'done', refused: 'park', unknown: 'retry' } as const)[result];
  }
  try {
    return await sendMessage(outbox, event);
  } catch {
    return 'retry';
  }
}

async function sendMessage(outbox: Outbox, event: OutboxEvent): Promise<Outcome> {
  const messages = outbox.messages!;
  if (event.createdAt + dayMs <= Date.now()) return giveUp(outbox, event, 'expired');
  const opened = await messages.open(event);
  if (typeof opened === 'string') return outcomes[opened];
  if (opened.sentBefore !== null && (await isQueuedBehind(outbox, event, opened.sentBefore)))
    return 'behind';
  const result = await postEvent(outbox.settings, event.id, opened.body);
  if (result === 'unknown') return 'retry';
  if (result === 'refused') return giveUp(outbox, event, 'refused');
  await messages.close(event, 'delivered');
  return 'done';
}

/** An event is queued before its message is stored, so two messages sent at once may be stored in the other order. */
async function isQueuedBehind(
  { db }: Outbox,
  { seq, userId }: OutboxEvent,
  messageId: string,
): Promise<boolean> {
  const rows = await db.all(sql`select 1 from outbox where user_id = ${userId} and seq > ${seq}
    and message_id = ${messageId} and parked_at is null`);
  return rows.length > 0;
}

async function giveUp(
  outbox: Outbox,
  event: OutboxEvent,
  reason: 'refused' | 'expired',
): Promise<Outcome> {
  await outbox.messages!.close(event, 'failed');
  await logParked(outbox, event, reason);
  return 'park';
}

async function logParked({ settings }: Outbox, event: OutboxEvent, reason: string): Promise<void> {
  const { type }: { type: string } = JSON.parse(event.body);
  const level = type === 'user.deleted' ? 'error' : 'info';
  log(level, 'outbox_parked', {
    type,
    seq: event.seq,
    reason,
    phone: await phoneTag(settings.CODE_PEPPER[0]!, event.phone),
  });
}

function removeCancelled({ seq }: OutboxEvent): SQL {
  return sql`delete from outbox where seq = ${seq} and body = ${cancelledBody}`;
}

function settledSql(
  { seq, attempts, messageId, createdAt }: OutboxEvent,
  outcome: Outcome,
  now: number,
): SQL {
  if (outcome === 'done') return sql`delete from outbox where seq = ${seq}`;
  // A request that resends the message updates `created_at`, and may be storing it now.
  if (outcome === 'absent')
    return sql`delete from outbox where seq = ${seq} and created_at = ${createdAt}`;
  if (outcome === 'behind') {
    return sql`update outbox set seq = (select max(seq) + 1 from outbox), leased_until = 0, attempts = attempts - 1
      where seq = ${seq} and body <> ${cancelledBody}`;
  }
  if (outcome === 'park') {
    return sql`update outbox set leased_until = 0, due_at = ${neverDue}, parked_at = ${now} where seq = ${seq}`;
  }
  const dueAt = now + delaysMs[Math.min(attempts, delaysMs.length) - 1]!;
  const latest = messageId ? createdAt + dayMs : dueAt;
  return sql`update outbox set leased_until = 0, due_at = ${Math.min(dueAt, latest)} where seq = ${seq}`;
}

const timeoutMs = 15_000;
/** Client errors that are worth a retry: Request Timeout, Too Early, Too Many Requests. */
const temporary = new Set([408, 425, 429]);

async function postEvent(
  settings: Settings,
  id: string,
  body: string,
): Promise<'taken' | 'refused' | 'unknown'> {
  const at = new Date();
  const signatures = settings.BOT_WEBHOOK_SECRET.map((secret) =>
    new Webhook(secret).sign(id, at, body),
  );
  try {
    const response = await fetch(settings.BOT_WEBHOOK_URL!, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signatures.join(' '),
      },
      body,
      // Another address may not belong to the bot.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    if (response.ok) return 'taken';
    return response.status >= 400 && response.status < 500 && !temporary.has(response.status)
      ? 'refused'
      : 'unknown';
  } catch {
    return 'unknown';
  }
}
