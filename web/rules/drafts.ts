import type { ChatMessage } from '#contract/chat-schemas';
import type { PendingMessage } from './transcript.ts';

/** What a tab keeps of a conversation: the text in the field, and the messages that did not get through. */
export type KeptDraft = { owner: string; text: string; pending: readonly PendingMessage[] };

type Draft = Omit<KeptDraft, 'owner'>;

/** The draft in a stored value; an empty one if it is not of this owner, or cannot be read. */
export function readDraft(stored: unknown, owner: string): Draft {
  const kept: Partial<Record<keyof KeptDraft, unknown>> = Object(stored);
  if (kept.owner !== owner) return { text: '', pending: [] };
  const pending = Array.isArray(kept.pending) ? kept.pending.filter(isPending) : [];
  return {
    text: typeof kept.text === 'string' ? kept.text : '',
    // The page that was sending them is gone.
    pending: pending.map((message) => ({ ...message, state: 'unsent' })),
  };
}

function isPending(value: unknown): value is PendingMessage {
  const message: Partial<Record<keyof PendingMessage, unknown>> = Object(value);
  return [message.id, message.text, message.at].every((part) => typeof part === 'string');
}

/** The unsent messages that the server does not have. One that failed there waits to be sent again. */
export function withoutArrived(
  pending: readonly PendingMessage[],
  messages: readonly ChatMessage[],
): PendingMessage[] {
  const own = messages.filter(({ author, state }) => author === 'user' && state !== 'failed');
  const arrived = new Set(own.map(({ id }) => id));
  return pending.filter(({ id, state }) => state === 'sending' || !arrived.has(id));
}
