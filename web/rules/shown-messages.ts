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

type Pending = { id: string; text: string; at: string; state: 'sending' | 'unsent' };

/** The server's messages in their order, then the pending ones. A failed message that is sent again appears once. */
export function shownMessages(messages: readonly ChatMessage[], pending: readonly Pending[]): ShownMessage[] {
  const waiting = new Set(pending.map(({ id }) => id));
  const isWaiting = ({ id, author, state }: ChatMessage) => author === 'user' && state === 'failed' && waiting.has(id);
  const stored = messages.filter((message) => !isWaiting(message));
  const known = new Set(stored.filter(({ author }) => author === 'user').map(({ id }) => id));
  return [
    ...stored.map(({ id, seq, author, text, at, state, crisis }) => ({
      key: `${author}-${id}`,
      id,
      seq,
      author,
      text,
      at,
      state,
      crisis: crisis === true,
    })),
    ...pending
      .filter(({ id }) => !known.has(id))
      .map((message) => ({ ...message, key: `user-${message.id}`, seq: null, author: 'user' as const, crisis: false })),
  ];
}
