import type { MessageState } from '../contract/chat-schemas.ts';
import type { StoredMessage } from './stored-message.ts';

/** Late totals do no harm; `resetsAt` in unix ms, null while frozen. */
export type UsageChange =
  | { kind: 'total'; seq: number; used: number; resetsAt: number | null }
  | { kind: 'changed' };

/** `until` in unix ms; `sealed` in base64. */
export type Typing = {
  until: number | null;
  epoch: number;
  sealed: string | null;
};

export type ConversationChange =
  | {
      kind: 'joined';
      epoch: number;
      revision: number;
      typing: Typing | null;
      reset: boolean;
    }
  | {
      kind: 'message';
      revision: number;
      epoch: number;
      message: Omit<StoredMessage, 'sealed'> & { sealed: string };
    }
  | {
      kind: 'state';
      revision: number;
      upTo: number;
      state: Exclude<MessageState, 'sent'>;
    }
  | { kind: 'cleared'; revision: number; epoch: number }
  | ({ kind: 'typing' } & Typing);

export const replacedCode = 4001;
