import { consentVersion } from '#contract/chat-limits';
import type { ShownChat } from '../data/early-start.ts';

const at = '2025-01-01T00:00:00.000Z';

/** `fill-chat.tsx` puts the user's messages in its place. */
export const sample: ShownChat = {
  token: '',
  openedAt: Date.parse(at),
  page: {
    success: true,
    revision: 0,
    messages: [{ id: '', seq: 1, author: 'user', text: '', at, state: 'delivered' }],
    hasMore: true,
    typingUntil: null,
    consent: { version: consentVersion, at },
  },
};
