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
  settleEvent,
  tooOld,
} from './outbox-statements.ts';
import { bodyFor, storedOf, type OutboxEvent } from './outbox.ts';
import { postEvent } from './post-event.ts';

export type OpenedMessage = { body: string; sentBefore: string | null };

export type MessageEvents = {
  open: (event: OutboxEvent) => Promise<OpenedMessage | DeliveryResult>;
  close: (event: OutboxEvent, state: 'delivered' | 'failed') => Promise<void>;
};

export type Outbox = Scope<'db' | 'settings'> & { messages: MessageEvents | null };

/**
 * Pauses before the two attempts. The second attempt is
 * for a message that waits behind an event in delivery.
 */
const pausesMs = [250, 2000];
const deliveryTimeoutMs = 20_000;
const atOnce = 5;
const stepsPerRun = 10;

/** The response is sent first. */
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

/** The response is sent first: a message is faster for it. */
export async function deliverLeased(scope: Outbox, event: OutboxEvent): Promise<void> {
  await scheduler.wait(0);
  await follow(scope, event, () => leaseOldestOf(scope.db, event.userId!, 'all'));
}

export async function deliverOutbox(scope: Outbox): Promise<void> {
  if (!scope.settings.require('BOT_WEBHOOK_URL')) return;

  for (let step = 0; step < stepsPerRun; step += 1) {
    const events = await leaseDue(scope.db, atOnce);
    await Promise.all(events.map((event) => follow(scope, event, () => leaseDue(scope.db, 1))));
    const { rowsAffected } = await postponeBlocked(scope.db, Date.now());
    if (rowsAffected === 0) return;
  }
}

export async function expireMessages(scope: Outbox, now: number): Promise<void> {
  const expired = await tooOld(scope.db, now);

  for (const event of expired) {
    const result = await giveUp(scope, event, 'expired').catch(() => null);
    if (result) await settleEvent(scope.db, event, result, now);
  }
}

type LeaseNext = () => ReturnType<typeof leaseOldestOf>;

async function follow(scope: Outbox, leased: OutboxEvent, leaseNext: LeaseNext): Promise<void> {
  const until = Date.now() + deliveryTimeoutMs;
  let event: OutboxEvent | undefined = leased;

  while (event) {
    const result = await deliver(scope, event);
    const now = Date.now();
    const settled = settleEvent(scope.db, event, result, now);
    const removed = removeCancelled(scope.db, event);
    if (now > until) return void (await batch(scope.db, { settled, removed }));

    const results = await batch(scope.db, {
      settled,
      removed,
      following: leaseNext(),
    });
    const following: OutboxEvent[] = results.following;
    event = following[0];
  }
}

async function deliver(scope: Outbox, event: OutboxEvent): Promise<DeliveryResult> {
  const settled = settledBefore(attemptedOf(event));
  if (settled) return settled;

  try {
    if (event.hasAccount && !event.isNamed) return await parkUnnamed(scope, event);
    return event.messageId ? await deliverMessage(scope, event) : await deliverEvent(scope, event);
  } catch {
    return 'later';
  }
}

async function deliverEvent(scope: Outbox, event: OutboxEvent): Promise<DeliveryResult> {
  const body = await bodyFor(scope.settings, event);
  if (body === null) return 'gone';
  const result = await postEvent(scope.settings, event.id, body);
  if (result === 'parked') await logParked(scope, event, 'refused');
  return result;
}

async function deliverMessage(scope: Outbox, event: OutboxEvent): Promise<DeliveryResult> {
  const messages = scope.messages!;
  if (isTooOld(attemptedOf(event), Date.now())) return giveUp(scope, event, 'expired');

  const opened = await messages.open(event);
  if (typeof opened === 'string') return opened;
  const { body, sentBefore } = opened;
  if (sentBefore !== null && (await isQueuedBehind(scope.db, event, sentBefore)))
    return 'afterOthers';

  const result = await postEvent(scope.settings, event.id, body);
  if (result === 'parked') return giveUp(scope, event, 'refused');
  if (result === 'delivered') await messages.close(event, 'delivered');
  return result;
}

/** The event waits until the owner has mended the row. */
async function parkUnnamed(scope: Outbox, event: OutboxEvent): Promise<DeliveryResult> {
  log('error', 'row_not_bound', { table: 'users' });
  if (event.messageId) return giveUp(scope, event, 'unbound');
  await logParked(scope, event, 'unbound');
  return 'parked';
}

async function giveUp(
  scope: Outbox,
  event: OutboxEvent,
  reason: 'refused' | 'expired' | 'unbound',
): Promise<DeliveryResult> {
  await scope.messages!.close(event, 'failed');
  await logParked(scope, event, reason);
  return 'parked';
}

async function logParked({ settings }: Outbox, event: OutboxEvent, reason: string): Promise<void> {
  const { type } = storedOf(event);
  const level = type === 'user.deleted' ? 'error' : 'info';
  const phone = await phoneTag(settings.CODE_PEPPER[0]!, event.phone);
  log(level, 'outbox_parked', { type, seq: event.seq, reason, phone });
}
