import type { StreamMessage } from '#contract/usage-stream';
import type { PartialProfile } from './user-profile.ts';
import type { ChatStreamEvent } from '#contract/chat';

/** The message of an event's data; null for other data. */
export function readMessage(data: string): StreamMessage | null {
  try {
    const message: { type?: unknown; count?: unknown } = JSON.parse(data);
    if (message.type === 'usageUpdate')
      return typeof message.count === 'number' ? { type: 'usageUpdate', count: message.count } : null;
    return message.type === 'subscription_update' || message.type === 'subscriptionChange'
      ? { type: message.type }
      : null;
  } catch {
    return null;
  }
}

/** The profile in a stream's first event; null from an older version of the Worker, which sends none. */
export function readOpening(data: string): PartialProfile | null {
  try {
    const { profile }: { profile?: unknown } = JSON.parse(data);
    return typeof profile === 'object' ? profile : null;
  } catch {
    return null;
  }
}

const types: ReadonlySet<unknown> = new Set<ChatStreamEvent['type']>([
  'message',
  'state',
  'cleared',
  'reset',
  'typing',
]);

/** The event of a stream's data; null for data that is no event of the conversation. */
export function readChatEvent(data: string): ChatStreamEvent | null {
  try {
    const event: unknown = JSON.parse(data);
    return isEvent(event) ? event : null;
  } catch {
    return null;
  }
}

function isEvent(value: unknown): value is ChatStreamEvent {
  return typeof value === 'object' && value !== null && 'type' in value && types.has(value.type);
}

const maxAttempts = 5;
const base = 3000;
const cap = 30_000;

/** Milliseconds before the given attempt (1 is the first); null after the last attempt. */
export function reconnectDelay(attempt: number): number | null {
  return attempt > maxAttempts ? null : Math.min(base * 2 ** (attempt - 1), cap);
}
