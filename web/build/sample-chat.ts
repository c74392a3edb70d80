import type { ChatMessage } from '#contract/chat';
import type { ShownChat } from '../data/early-start.ts';
import { consentVersion } from '../words/chat.ts';

const at = '2025-01-01T00:00:00.000Z';
const message = (seq: number, more: Partial<ChatMessage>): ChatMessage => ({
  id: String(seq),
  seq,
  author: 'user',
  text: '',
  at,
  state: 'delivered',
  ...more,
});

/**
 * The conversation in the served frame of the chat, which `fill-chat.tsx` replaces. It has one message of each look,
 * so that the page has the styles of all.
 */
export const sampleChat: ShownChat = {
  token: '',
  page: {
    success: true,
    revision: 0,
    messages: [
      message(1, { state: 'failed' }),
      message(2, { author: 'solace', text: 'https://a.example', crisis: true }),
    ],
    hasMore: true,
    typingUntil: null,
    consent: { version: consentVersion, at },
  },
  openedAt: Date.parse(at),
};
