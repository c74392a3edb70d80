import type { ChatMessage } from '#contract/chat';

/** A shown message: from the server, or not sent yet (`seq` null). */
export type ShownMessage = {
  key: string;
  id: string;
  seq: number | null;
  author: ChatMessage['author'];
  text: string;
  at: string;
  state: ChatMessage['state'] | 'sending' | 'unsent';
  crisis: boolean;
};

/** A message of this page that the server has not accepted yet. */
export type PendingMessage = { id: string; text: string; at: string; state: 'sending' | 'unsent' };

/** A message of the server. */
export function shownMessage({ id, seq, author, text, at, state, crisis }: ChatMessage): ShownMessage {
  return { key: `${author}-${id}`, id, seq, author, text, at, state, crisis: crisis === true };
}

/** The server's messages in their order, then the pending ones. A failed message that is sent again appears once. */
export function shownMessages(messages: readonly ChatMessage[], pending: readonly PendingMessage[]): ShownMessage[] {
  const waiting = new Set(pending.map(({ id }) => id));
  const isWaiting = ({ id, author, state }: ChatMessage) => author === 'user' && state === 'failed' && waiting.has(id);
  const stored = messages.filter((message) => !isWaiting(message));
  const known = new Set(stored.filter(({ author }) => author === 'user').map(({ id }) => id));
  return [
    ...stored.map(shownMessage),
    ...pending
      .filter(({ id }) => !known.has(id))
      .map((message) => ({ ...message, key: `user-${message.id}`, seq: null, author: 'user' as const, crisis: false })),
  ];
}
