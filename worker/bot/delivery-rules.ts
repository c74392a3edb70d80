import { dayMs } from '../lib/time.ts';
import type { EventType } from './event-data.ts';

/**
 * What becomes of an event for the bot: pure rules about a row of `outbox`.
 *
 *                      lease                    result of an attempt
 *   queued ──▶ waiting ─────▶ leased ──┬── delivered ──▶ removed
 *                ▲ ▲ ▲          │      ├── gone ───────▶ removed, unless a request queued it again
 *                │ │ └─ killed ─┘      ├── parked ─────▶ parked ──┬── owner retries ──▶ waiting
 *                │ └───── later ◀──────┤                          └── owner drops ────▶ removed
 *                └─ afterOthers ◀──────┘
 *
 * Only the oldest event of an account that is not parked is ever leased, which keeps their order. `later` waits for a
 * pause; `afterOthers` becomes the newest of its account; the lease of a killed request ends by itself.
 */
export type DeliveryResult = 'delivered' | 'gone' | 'later' | 'parked' | 'afterOthers';

export type Attempted = {
  type: EventType | 'cancelled';
  hasAccount: boolean;
  attempts: number;
  createdAt: number;
};

export type Step =
  | { kind: 'remove' }
  | { kind: 'removeUnlessQueuedAgain' }
  | { kind: 'wait'; dueAt: number }
  | { kind: 'moveBehind' }
  | { kind: 'park'; parkedAt: number };

/** The cron job runs every minute; the longest pause is an hour. */
const pausesMs = [5_000, 15_000, 30_000, 45_000, 60_000, 120_000, 300_000, 900_000, 3_600_000];

export function retryPause(attempts: number): number {
  const last = pausesMs.length - 1;
  return pausesMs[Math.min(attempts - 1, last)]!;
}

/** How long (ms) a message is tried before it fails. */
export const messageLifetimeMs = dayMs;

export function settledBefore(event: Attempted): DeliveryResult | null {
  if (event.type === 'cancelled') return 'delivered';
  if (event.hasAccount || event.type === 'user.deleted') return null;
  return 'gone';
}

export function isTooOld({ type, createdAt }: Attempted, now: number): boolean {
  return type === 'chat.message' && createdAt + messageLifetimeMs <= now;
}

export function next(event: Attempted, result: DeliveryResult, now: number): Step {
  switch (result) {
    case 'delivered':
      return { kind: 'remove' };
    case 'gone':
      return { kind: 'removeUnlessQueuedAgain' };
    case 'later':
      return { kind: 'wait', dueAt: dueAfter(event, now) };
    case 'afterOthers':
      return { kind: 'moveBehind' };
    case 'parked':
      return { kind: 'park', parkedAt: now };
  }
}

function dueAfter({ type, attempts, createdAt }: Attempted, now: number): number {
  const dueAt = now + retryPause(attempts);
  return type === 'chat.message' ? Math.min(dueAt, createdAt + messageLifetimeMs) : dueAt;
}
