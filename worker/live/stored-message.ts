import type { MessageAuthor, MessageState } from '../contract/chat-schemas.ts';

export type StoredMessage = {
  seq: number;
  id: string;
  author: MessageAuthor;
  at: number;
  state: MessageState;
  revision: number;
  sealed: ArrayBuffer;
};

export type PlacedMessage = Omit<StoredMessage, 'sealed'>;

type NewContent = {
  id: string;
  others?: string[];
  sealed: ArrayBuffer;
  recording?: ArrayBuffer | undefined;
  /** Unix ms: later, its caller may have given up. */
  notAfter: number;
};

export type NewUserMessage = NewContent & {
  author: 'user';
  perMinute: number;
  recordedBytesPerDay?: number | undefined;
};

export type NewReply = NewContent & {
  author: 'solace';
  /**
   * The message that a reply answers; a reply to one
   * of a page that is not there is not stored.
   */
  replyTo?: string | undefined;
};

export type MessageToStore = NewUserMessage | NewReply;

/** The conversation was cleared since; `epoch` is the present one. */
export type StaleEpoch = { outcome: 'behind'; epoch: number };

/** `sentBefore`: the first message before it that is still `sent`. */
export type QueuedMessage = {
  message: StoredMessage;
  sentBefore: string | null;
};

/** `watched`: whether a page of the user is open. */
export type Stored = {
  outcome: 'stored';
  watched: boolean;
  message: PlacedMessage;
  sentBefore: string | null;
};
export type KnownMessage = { outcome: 'known' } & QueuedMessage;
export type Refused = { outcome: 'late' } | StaleEpoch;

export type AppendedMessage =
  | Stored
  | KnownMessage
  | Refused
  | {
      outcome: 'limited';
      allowedAt: number;
    };
export type AppendedReply = Stored | KnownMessage | Refused | { outcome: 'cleared' };

export type StoredPage = {
  outcome: 'read';
  revision: number;
  messages: StoredMessage[];
  hasMore: boolean;
  typingUntil: number | null;
};
