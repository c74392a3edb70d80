import type { StreamMessage } from '#contract/usage-stream';
import type { PartialProfile } from './user-profile.ts';
import type { ChatStreamEvent } from '#contract/chat-schemas';

/** Reads the profile of a stream's opening; null if it has none. */
export function readOpening(data: string): PartialProfile | null {
  try {
    const { profile }: { profile?: unknown } = JSON.parse(data);
    return typeof profile === 'object' ? profile : null;
  } catch {
    return null;
  }
}

/** Reads the time of a beat (ISO 8601); null if it has none. */
export function readBeat(data: string): string | null {
  try {
    const { at }: { at?: unknown } = JSON.parse(data);
    return typeof at === 'string' ? at : null;
  } catch {
    return null;
  }
}

const conversationTypes: ReadonlySet<unknown> = new Set<ChatStreamEvent['type']>([
  'message',
  'state',
  'cleared',
  'reset',
  'typing',
]);

type LiveEvent = StreamMessage | ChatStreamEvent;

/** Reads an event of either stream; null for other data. */
export function readEvent(data: string): LiveEvent | null {
  try {
    const event: unknown = JSON.parse(data);
    return isEvent(event) ? event : null;
  } catch {
    return null;
  }
}

function isEvent(value: unknown): value is LiveEvent {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  if (value.type === 'usageUpdate') return 'count' in value && typeof value.count === 'number';
  return (
    conversationTypes.has(value.type) ||
    value.type === 'subscription_update' ||
    value.type === 'subscriptionChange'
  );
}

export function isUsage(event: LiveEvent): event is StreamMessage {
  return !conversationTypes.has(event.type);
}

const maxAttempts = 5;
const firstPauseMs = 3000;
const longestPauseMs = 30_000;

/** ms before the attempt (1 is the first); null after the last. */
export function reconnectDelay(attempt: number): number | null {
  return attempt > maxAttempts ? null : Math.min(firstPauseMs * 2 ** (attempt - 1), longestPauseMs);
}

const minuteMs = 60_000;

/** ms; `random` (0..1) spreads the pages. */
export function probeInterval(random: number): number {
  return minuteMs * (1 + random / 2);
}
