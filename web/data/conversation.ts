import { messagesPerPage } from '#contract/chat-limits';
import type { ChatMessage, ChatPage, ChatStreamEvent } from '#contract/chat';
import { applyEvent, conversationOf, withMessage, withOlderPage, type Conversation } from '../rules/conversation.ts';
import { requestAs } from './api.ts';
import { ApiError } from './api-error.ts';
import { shownChat } from './early-start.ts';
import { queryClient } from './query-client.ts';

const key = (token: string) => ['chat', token] as const;

/** The query that owns the conversation of a session. The stream and every call write into it. */
export const conversationQuery = (token: string) => ({
  queryKey: key(token),
  queryFn: async () => conversationOf(await requestAs(token, 'getChat', { limit: messagesPerPage })),
  staleTime: Infinity,
  // The page observes the cache directly (React Query's hook is 2.7 KiB), so no hook prevents garbage collection.
  gcTime: Infinity,
  meta: { silent: true },
});

export const conversation = {
  get: (token: string) => queryClient.getQueryData<Conversation>(key(token)),

  /** Stores the page that the prerendered frame shows, so that React renders the same and nothing is requested twice. */
  takeShown(token: string): void {
    const shown = shownChat();
    if (shown?.token === token && !conversation.get(token))
      queryClient.setQueryData(key(token), conversationOf(shown.page));
  },

  /** Reads the newest page again, for example after a `reset`. */
  reload: (token: string) => queryClient.refetchQueries({ queryKey: key(token) }),

  apply: (token: string, event: ChatStreamEvent, revision: number | null) =>
    change(token, (current) => applyEvent(current, event, revision)),

  async loadOlder(token: string): Promise<void> {
    const before = conversation.get(token)?.messages[0]?.seq;
    if (before === undefined) return;
    const page: ChatPage = await requestAs(token, 'getChat', { before, limit: messagesPerPage });
    change(token, (current) => withOlderPage(current, page));
  },

  /** Sends a message; the same id and text may be sent again. */
  async send(token: string, id: string, text: string): Promise<ChatMessage> {
    const { message } = await requestAs(token, 'sendMessage', { id, text });
    change(token, (current) => keepNewest(current, message));
    return message;
  },

  async accept(token: string, version: string): Promise<void> {
    const { consent } = await requestAs(token, 'putChatConsent', { version });
    change(token, (current) => ({ ...current, consent }));
  },

  async withdraw(token: string): Promise<void> {
    await requestAs(token, 'deleteChatConsent');
    await conversation.reload(token);
  },

  /** If the server misses the consent, the page asks for it again. */
  async refreshAfter(token: string, error: unknown): Promise<void> {
    if (error instanceof ApiError && error.code === 'consent_needed') await conversation.reload(token);
  },

  async clear(token: string): Promise<void> {
    await requestAs(token, 'clearChat');
    await conversation.reload(token);
  },
};

/** The stream may have brought a later state of the message before the response arrived. */
function keepNewest(current: Conversation, message: ChatMessage): Conversation {
  const known = current.messages.some(
    ({ id, author, state }) => id === message.id && author === 'user' && state !== 'failed',
  );
  return known ? current : withMessage(current, message);
}

function change(token: string, update: (current: Conversation) => Conversation): void {
  queryClient.setQueryData<Conversation>(key(token), (current) => current && update(current));
}
