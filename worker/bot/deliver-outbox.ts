import { batch, type Database } from '../lib/database.ts';
import { log, phoneTag } from '../lib/log.ts';
import type { Settings } from '../settings.ts';
import type { Scope } from '../request-scope.ts';
import { isTooOld, settledBefore, type DeliveryResult } from './delivery-rules.ts';
import {
  attemptedOf,
  isQueuedBehind,
  leaseDue,
  leaseOldestOf,
  postponeBlocked,
  removeCancelled,
  settle,
  tooOld,
} from './outbox-statements.ts';
import { bodyFor, storedOf, type OutboxEvent } from './outbox.ts';
import { postEvent } from './post-event.ts';

/** The whole body, and the id of an earlier message that the bot has not accepted yet. */
export type OpenedMessage = { body: string; sentBefore: string | null };

/** What the conversation knows of the messages that events point to. */
export type MessageEvents = {
  /** The message of an event, or its result where nothing is to be sent (now). */
  open: (event: OutboxEvent) => Promise<OpenedMessage | DeliveryResult>;
  close: (event: OutboxEvent, state: 'delivered' | 'failed') => Promise<void>;
};

export type Outbox = Scope<'db' | 'settings'> & { messages: MessageEvents | null };

/**
 * Pauses before the two attempts. The second attempt is
 * for a message that waits behind an event in delivery.
 */
const pausesMs = [250, 2000];
const patienceMs = 20_000;
/** The platform lets a request hold six connections, and the database takes one. */
const atOnce = 5;
const stepsPerRun = 10;

/**
 * Sends the bot the events about one user, after a
 * short pause so that the response is sent first.
 */
export async function deliverSoon(
  db: Database,
  settings: Settings,
  userId: string,
  messages: MessageEvents | null = null,
): Promise<void> {
  if (!settings.require('BOT_WEBHOOK_URL')) return;
  const box = { db, settings, messages };
  const kinds = messages ? 'all' : 'withoutMessages';
  for (const ms of messages ? pausesMs : pausesMs.slice(0, 1)) {
    await scheduler.wait(ms);
    const [event] = await leaseOldestOf(db, userId, kinds);
    if (event) return follow(box, event, () => leaseOldestOf(db, userId, kinds));
  }
}

/**
 * Sends the leased event and those after it, after the
 * response: a message costs 1.17, not 1.28 (tests/bench).
 */
export async function deliverLeased(box: Outbox, event: OutboxEvent): Promise<void> {
  await scheduler.wait(0);
  await follow(box, event, () => leaseOldestOf(box.db, event.userId!, 'all'));
}

/** Sends what is due, whosever it is; the cron job calls it. */
export async function deliverOutbox(box: Outbox): Promise<void> {
  if (!box.settings.require('BOT_WEBHOOK_URL')) return;

  for (let step = 0; step < stepsPerRun; step += 1) {
    const events = await leaseDue(box.db, atOnce);
    await Promise.all(events.map((event) => follow(box, event, () => leaseDue(box.db, 1))));
    const { rowsAffected } = await postponeBlocked(box.db, Date.now());
    if (rowsAffected === 0) return;
  }
}

/**
 * Fails messages that are too old, also those
 * behind an event that the bot does not accept.
 */
export async function expireMessages(box: Outbox, now: number): Promise<void> {
  const expired = await tooOld(box.db, now);

  for (const event of expired) {
    // An object that does not respond must not
    // delay the others; the next run retries it.
    const result = await giveUp(box, event, 'expired').catch(() => null);
    if (result) await settle(box.db, event, result, now);
  }
}

type LeaseNext = () => ReturnType<typeof leaseOldestOf>;

async function follow(box: Outbox, leased: OutboxEvent, leaseNext: LeaseNext): Promise<void> {
  const until = Date.now() + patienceMs;
  let event: OutboxEvent | undefined = leased;

  while (event) {
    const result = await deliver(box, event);
    const now = Date.now();
    const settled = settle(box.db, event, result, now);
    const removed = removeCancelled(box.db, event);
    if (now > until) return void (await batch(box.db, { settled, removed }));

    const results = await batch(box.db, {
      settled,
      removed,
      following: leaseNext(),
    });
    const following: OutboxEvent[] = results.following;
    event = following[0];
  }
}

async function deliver(box: Outbox, event: OutboxEvent): Promise<DeliveryResult> {
  const settled = settledBefore(attemptedOf(event));
  if (settled) return settled;

  try {
    if (event.hasAccount && !event.isNamed) return await parkUnnamed(box, event);
    return event.messageId ? await deliverMessage(box, event) : await deliverEvent(box, event);
  } catch {
    return 'later';
  }
}

async function deliverEvent(box: Outbox, event: OutboxEvent): Promise<DeliveryResult> {
  const body = await bodyFor(box.settings, event);
  if (body === null) return 'gone';
  const result = await postEvent(box.settings, event.id, body);
  if (result === 'parked') await logParked(box, event, 'refused');
  return result;
}

async function deliverMessage(box: Outbox, event: OutboxEvent): Promise<DeliveryResult> {
  const messages = box.messages!;
  if (isTooOld(attemptedOf(event), Date.now())) return giveUp(box, event, 'expired');

  const opened = await messages.open(event);
  if (typeof opened === 'string') return opened;
  const { body, sentBefore } = opened;
  if (sentBefore !== null && (await isQueuedBehind(box.db, event, sentBefore)))
    return 'afterOthers';

  const result = await postEvent(box.settings, event.id, body);
  if (result === 'parked') return giveUp(box, event, 'refused');
  if (result === 'delivered') await messages.close(event, 'delivered');
  return result;
}

/** The event waits until the owner has mended the row. */
async function parkUnnamed(box: Outbox, event: OutboxEvent): Promise<DeliveryResult> {
  log('error', 'row_not_bound', { table: 'users' });
  if (event.messageId) return giveUp(box, event, 'unbound');
  await logParked(box, event, 'unbound');
  return 'parked';
}

async function giveUp(
  box: Outbox,
  event: OutboxEvent,
  reason: 'refused' | 'expired' | 'unbound',
): Promise<DeliveryResult> {
  await box.messages!.close(event, 'failed');
  await logParked(box, event, reason);
  return 'parked';
}

async function logParked({ settings }: Outbox, event: OutboxEvent, reason: string): Promise<void> {
  const { type } = storedOf(event);
  const level = type === 'user.deleted' ? 'error' : 'info';
  const phone = await phoneTag(settings.CODE_PEPPER[0]!, event.phone);
  log(level, 'outbox_parked', {
    type,
    seq: event.seq,
    reason,
    phone,
  });
}
