import type { StreamMessage } from '#contract/usage-stream';
import type { PartialProfile } from './read-user.ts';

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
