import type { ChatMessage } from '#contract/chat-schemas';
import type { PendingMessage } from './transcript.ts';

export type Draft = { text: string; pending: readonly PendingMessage[] };

/** Reads a stored draft; empty if it cannot be read. */
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

export function joinedTexts(kept: string, typed: string): string {
  if (kept === typed) return kept;
  return [kept, typed].filter(Boolean).join('\n');
}

/** Puts a message back into the field. Beside another text it stays in the list, unsent. */
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

/** Drops messages that have arrived. One that failed at the server stays. */
export function withoutArrived(
  pending: readonly PendingMessage[],
  messages: readonly ChatMessage[],
): PendingMessage[] {
  const own = messages.filter(({ author, state }) => author === 'user' && state !== 'failed');
  const arrived = new Set(own.map(({ id }) => id));
  return pending.filter(({ id, state }) => state === 'sending' || !arrived.has(id));
}
