import type { ChatMessage } from '#contract/chat-schemas';
import type { PendingMessage } from './transcript.ts';

/** The text in the field of a conversation, and the messages that did not get through. */
export type Draft = { text: string; pending: readonly PendingMessage[] };

/** The draft in a stored value; an empty one if it cannot be read. */
export function readDraft(stored: unknown): Draft {
  const kept: Partial<Record<keyof Draft, unknown>> = Object(stored);
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

/** What was kept, then what was typed before it came back. */
export function joinedTexts(kept: string, typed: string): string {
  if (kept === typed) return kept;
  return [kept, typed].filter(Boolean).join('\n');
}

/** A refused message is in the field again; beside another text it stays, unsent. */
export function withGivenBack({ text, pending }: Draft, id: string): Draft {
  const refused = pending.find((message) => message.id === id);
  if (!refused) return { text, pending };
  const others = pending.filter((message) => message !== refused);
  if (text === '' && !refused.voice) return { text: refused.text, pending: others };
  return {
    text,
    pending: pending.map((one) => (one === refused ? { ...one, state: 'unsent' } : one)),
  };
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
