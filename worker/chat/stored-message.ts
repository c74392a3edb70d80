import type { MessageAuthor, MessageState } from '../contract/chat.ts';

/** A message as the Durable Object keeps it; `at` in unix ms. */
export type StoredMessage = {
  seq: number;
  id: string;
  author: MessageAuthor;
  at: number;
  state: MessageState;
  /** The revision of its last change. */
  revision: number;
  /** Nonce and ciphertext of the content. */
  sealed: ArrayBuffer;
};

export type NewStoredMessage = {
  id: string;
  author: MessageAuthor;
  sealed: ArrayBuffer;
  /** Unix ms: stored later, the message might not be delivered, since its caller may have given up. */
  notAfter: number;
  /** The maximum number of the user's messages in a minute. */
  perMinute?: number;
  /** The message that a reply answers; a reply to one that the user cleared is not stored. */
  replyTo?: string | undefined;
};

/** `behind` means that the conversation was cleared after the caller read its epoch; `epoch` is the present one. */
export type StaleEpoch = { outcome: 'behind'; epoch: number };

/** A message of the user, and the id of the first one before it that is still `sent`. */
export type QueuedMessage = { message: StoredMessage; sentBefore: string | null };

export type Appended =
  | ({ outcome: 'stored' | 'known' } & QueuedMessage)
  | { outcome: 'limited'; allowedAt: number }
  | { outcome: 'late' }
  | { outcome: 'cleared' }
  | StaleEpoch;

export type StoredPage = {
  outcome: 'read';
  revision: number;
  messages: StoredMessage[];
  hasMore: boolean;
  typingUntil: number | null;
};

/** What the Durable Object sends to the Workers that hold streams. */
export type ConversationEvent =
  | { kind: 'joined'; epoch: number; revision: number; typingUntil: number | null; reset: boolean }
  | { kind: 'message'; revision: number; epoch: number; message: Omit<StoredMessage, 'sealed'> & { sealed: string } }
  | { kind: 'state'; revision: number; upTo: number; state: Exclude<MessageState, 'sent'> }
  | { kind: 'cleared'; revision: number; epoch: number }
  | { kind: 'typing'; until: number | null };
