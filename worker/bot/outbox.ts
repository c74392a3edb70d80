import {
  and,
  asc,
  eq,
  inArray,
  isNotNull,
  isNull,
  ne,
  lte,
  notExists,
  type SQL,
} from 'drizzle-orm';
import { aliases, outbox, users, type PhoneNumber, type User } from '#db/schema';
import { log } from '../lib/log.ts';
import { coalesce, inJson, jsonObject, valueOf } from '../lib/expressions.ts';
import { build, insertSelect } from '../lib/sql.ts';
import type { On, Transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import { isOwnAlias } from '../identity/bindings.ts';
import { sql } from '../lib/sql-text.ts';
import type { Scope } from '../request-scope.ts';
import { openData, type BotEvent, type EventType, type ReplaceableEvent } from './event-data.ts';

const namingUser = new Set<string>([
  'chat.message',
  'chat.cleared',
  'chat.consent',
  'user.approved',
  'user.unused',
] satisfies EventType[]);

export type OutboxEvent = {
  seq: number;
  id: string;
  /** Null in an event of a deleted account. */
  userId: string | null;
  phone: PhoneNumber;
  hasAccount: boolean;
  /** The row alone moves no event to another phone. */
  isNamed: boolean;
  businessUserId: string | null;
  businessMac: string | null;
  body: string;
  attempts: number;
  messageId: string | null;
  createdAt: number;
};

type StoredEvent = {
  type: EventType;
  timestamp: string;
  data: Record<string, unknown>;
};

/** Only the lease of a cancelled event still counts. */
export const cancelledBody = '{}';

const mostWaiting = 50;

/**
 * These types are never left out: at most one event of each waits, and one
 * more may be in delivery. All other types share the rest of `mostWaiting`.
 */
const neverLeftOut = new Set<BotEvent>([
  'platform.changed',
  'chat.consent',
  'chat.cleared',
  'user.approved',
  'user.deleted',
  'user.unused',
]);
const mostOfOthers = mostWaiting - neverLeftOut.size - 1;

export function eventColumns() {
  const phone = build.select({ phone: users.phone }).from(users).where(eq(users.id, outbox.userId));
  const isName = and(
    eq(aliases.kind, 'phone'),
    eq(aliases.value, users.phone),
    eq(aliases.userId, users.id),
  );

  const named = build
    .select({ phone: users.phone })
    .from(users)
    .innerJoin(aliases, isName)
    .where(eq(users.id, outbox.userId));

  const isBusiness = and(eq(aliases.userId, outbox.userId), eq(aliases.kind, 'business'));

  return {
    seq: outbox.seq,
    id: outbox.id,
    userId: outbox.userId,
    phone: coalesce<PhoneNumber>(phone, outbox.phone),
    hasAccount: isNotNull(phone).mapWith(Boolean),
    isNamed: isNotNull(named).mapWith(Boolean),
    businessUserId: valueOf(aliases.value, isBusiness),
    businessMac: valueOf(aliases.bindingMac, isBusiness),
    body: outbox.body,
    attempts: outbox.attempts,
    messageId: outbox.messageId,
    createdAt: outbox.createdAt,
  };
}

export function isCancelledEvent({ body }: Pick<OutboxEvent, 'body'>): boolean {
  return body === cancelledBody;
}

export function storedOf({ body }: Pick<OutboxEvent, 'body'>): StoredEvent {
  return JSON.parse(body);
}

/** Null if the row was not written for this account. */
export async function bodyFor(
  settings: Pick<Settings, 'CODE_PEPPER'>,
  event: OutboxEvent,
  more: Record<string, unknown> = {},
): Promise<string | null> {
  const { type, timestamp, data: stored } = storedOf(event);
  const data = await openData(settings, { type, userId: event.userId }, stored);
  if (!data) return null;

  const told =
    type === 'user.deleted'
      ? deletionData(event, data)
      : { ...data, ...more, ...(await accountNames(settings, event)) };
  return told && JSON.stringify({ type, timestamp, data: told });
}

/**
 * The account of a deletion is gone, so that its sealed data alone says
 * whose it was, and the id of the event that the bot receives: put back later,
 * it is the event that the bot knows.
 */
function deletionData(
  event: OutboxEvent,
  { eventId = event.id, ...data }: Record<string, unknown>,
) {
  if (eventId === event.id && !event.hasAccount) return data;
  log('error', 'row_not_bound', { table: 'outbox' });
  return null;
}

async function accountNames(settings: Pick<Settings, 'CODE_PEPPER'>, event: OutboxEvent) {
  const { userId, phone, businessUserId: value, businessMac: bindingMac } = event;
  const isOwn =
    value !== null &&
    (await isOwnAlias(settings, {
      value,
      phone,
      bindingMac,
    }));
  return {
    phone,
    ...(namingUser.has(storedOf(event).type) && { userId }),
    ...(isOwn && { businessUserId: value }),
  };
}

type NewEvent<Type extends BotEvent> = {
  settings: Settings;
  type: Type;
  now: number;
  data?: Record<string, unknown>;
  /** A condition on `users`: an event for each row. */
  who: SQL | undefined;
  phone?: PhoneNumber;
  /** From `newEventId`, of an event whose data says its id. */
  id?: string;
};

export const newEventId = () => `evt_${crypto.randomUUID().replaceAll('-', '')}`;

export function insertBotEventSql(event: NewEvent<Exclude<BotEvent, ReplaceableEvent>>): SQL {
  return insertSelect(outbox, rowOf(event), sql`from ${users} where ${mayQueueSql(event)}`);
}

export function queueEvent<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  event: NewEvent<Exclude<BotEvent, ReplaceableEvent>>,
): void {
  insertEvent(tx, on, event);
}

function insertEvent<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  event: NewEvent<BotEvent>,
): void {
  tx.insert(on, outbox, rowOf(event), {
    from: users,
    where: mayQueueSql(event),
  });
}

/** One in delivery stays, so that none overtakes it. */
export function replaceEvent<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  event: NewEvent<ReplaceableEvent>,
): void {
  dropEvent(tx, on, event);
  insertEvent(tx, on, event);
}

export function dropEvent<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  { who, type, now }: Pick<NewEvent<ReplaceableEvent>, 'who' | 'type' | 'now'>,
): void {
  const theirs = build.select({ id: users.id }).from(users).where(who);
  const pointless = and(
    inArray(outbox.userId, theirs),
    lte(outbox.leasedUntil, now),
    eq(inJson(outbox.body, '$.type'), type),
  );
  tx.delete(on, outbox, pointless);
}

function rowOf({ id, type, now, data = {}, phone }: NewEvent<BotEvent>) {
  const timestamp = new Date(now).toISOString();
  return {
    ...(id !== undefined && { id }),
    userId: users.id.getSQL(),
    phone: phone ?? users.phone.getSQL(),
    body: jsonObject({ type, timestamp, data: jsonObject(data) }),
    createdAt: now,
    dueAt: now,
  };
}

/** SQL over `users`: who is told of an event now. */
export function mayQueueSql({
  settings,
  type,
  who,
}: Pick<NewEvent<BotEvent>, 'settings' | 'type' | 'who'>): SQL | undefined {
  const hasBot = settings.require('BOT_WEBHOOK_URL') ? undefined : sql`false`;
  if (neverLeftOut.has(type)) return and(who, hasBot);

  const waiting = and(
    eq(outbox.userId, users.id),
    isNull(outbox.messageId),
    isNull(outbox.parkedAt),
  );
  const lastThatMayWait = build
    .select({ seq: outbox.seq })
    .from(outbox)
    .where(waiting)
    .limit(1)
    .offset(mostOfOthers - 1);
  return and(who, hasBot, notExists(lastThatMayWait));
}

/** One in delivery keeps its row, so that none overtakes it. */
export function cancelEvents<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  {
    userId,
    now,
    which,
  }: {
    userId: string;
    now: number;
    which: 'all' | 'messages';
  },
): void {
  const kind = which === 'all' ? undefined : isNotNull(outbox.messageId);
  const own = and(eq(outbox.userId, userId), kind);
  const cancelled = {
    id: sql`'cancelled_' || ${outbox.seq}`,
    body: cancelledBody,
    messageId: null,
    dueAt: outbox.leasedUntil.getSQL(),
  };

  tx.delete(on, outbox, and(own, lte(outbox.leasedUntil, now)));
  tx.update(on, outbox, cancelled, own);
}

export async function exportOutbox({ user, db, settings }: OutboxScope) {
  const rows = await db
    .select({ body: outbox.body })
    .from(outbox)
    .where(and(eq(outbox.userId, user.id), ne(outbox.body, cancelledBody)))
    .orderBy(asc(outbox.seq));

  const events = rows.map(async (row) => {
    const { type, timestamp, data } = storedOf(row);
    return {
      type,
      timestamp,
      data: await openData(settings, { type, userId: user.id }, data),
    };
  });

  return { eventsForTheBot: (await Promise.all(events)).filter(({ data }) => data !== null) };
}

type OutboxScope = Scope<'db' | 'settings'> & { user: User };
