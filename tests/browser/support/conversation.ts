import type { ChatMessage, ChatPage } from '../../../worker/contract/chat.ts';
import { consentVersion } from '../../../web/words/chat.ts';

/** The instants of the conversation below are in UTC and before this one. */
export const now = '2025-03-04T15:30:00.000Z';

/** A message of the user; replies are made by `author: 'solace'`. */
export function messageOf(seq: number, text: string, more: Partial<ChatMessage> = {}): ChatMessage {
  return { id: `id-${seq}`, seq, author: 'user', text, at: now, state: 'delivered', ...more };
}

/** One message of each kind, on three days. */
export const everyKind: ChatMessage[] = [
  messageOf(1, 'Hello *there*, <b>Solace</b>', { at: '2025-02-01T09:05:00.000Z' }),
  messageOf(2, 'Hello! See https://example.com/a?b=1, _please_.\nA second line.', {
    author: 'solace',
    at: '2025-02-01T09:05:20.000Z',
  }),
  messageOf(3, 'Four hours later', { at: '2025-02-01T13:30:00.000Z' }),
  messageOf(4, 'Yesterday', { author: 'solace', at: '2025-03-03T23:59:00.000Z' }),
  messageOf(5, 'I cannot go on', { at: '2025-03-04T15:00:00.000Z' }),
  messageOf(6, 'Please talk to somebody now.', { author: 'solace', crisis: true, at: '2025-03-04T15:01:00.000Z' }),
  messageOf(7, 'This one was refused', { state: 'failed', at: '2025-03-04T15:02:00.000Z' }),
  messageOf(8, 'This one is new', { state: 'sent', at: '2025-03-04T15:03:00.000Z' }),
];

/** The response to `GET /api/user/chat`, of somebody who has consented. */
export function pageOf(messages: ChatMessage[], more: Partial<ChatPage> = {}): ChatPage {
  return {
    success: true,
    revision: 100,
    messages,
    hasMore: false,
    typingUntil: null,
    consent: { version: consentVersion, at: now },
    ...more,
  };
}

/** A long conversation, whose end alone fits on a screen. */
export const long = Array.from({ length: 50 }, (_, index) =>
  messageOf(index + 1, `Message number ${index + 1}.`, { author: index % 2 ? 'solace' : 'user' }),
);
