import type { StreamMessage } from '#contract/stream';

/** The message of an event's data; null for what is not one. */
export function readMessage(data: string): StreamMessage | null {
  try {
    const message = JSON.parse(data) as { type?: unknown; count?: unknown };
    if (message.type === 'usageUpdate')
      return typeof message.count === 'number' ? { type: 'usageUpdate', count: message.count } : null;
    return message.type === 'subscription_update' || message.type === 'subscriptionChange'
      ? { type: message.type }
      : null;
  } catch {
    return null;
  }
}
