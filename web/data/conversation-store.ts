import { messagesPerPage } from '#contract/chat-limits';
import type { ChatMessage, ChatPage, ChatStreamEvent } from '#contract/chat-schemas';
import {
  applyEvent,
  awaitsReply,
  conversationOf,
  withMessage,
  withNewer,
  withNewestPage,
  withOlderPage,
  type Conversation,
} from '../rules/conversation-changes.ts';
import { requestAs } from './api-client.ts';
import { ApiError } from './api-error.ts';
import { shownChat } from '../start/early-start.ts';
import { queryClient } from './query-client.ts';
import { sessionStream } from './session-stream.ts';
import { drafts } from './chat-drafts.ts';
import { lookForReply } from './reply-lookup.ts';
import { closeShownNotices } from './shown-notices.ts';
import { runningWork } from './running-work.ts';
import { voiceStore } from './voice-store.ts';

export const conversationKey = (token: string) => ['chat', token] as const;

// `setQueryData` stores data without a query function, so the default is set here.
queryClient.setQueryDefaults(['chat'], {
  queryFn: ({ queryKey }) => conversationStore.readNewest(String(queryKey[1])),
  staleTime: Infinity,
  // No hook observes the cache (React Query's is 2.7 KiB): nothing may be collected.
  gcTime: Infinity,
  meta: { silent: true },
});

/** A running read, and the events that arrive meanwhile: each may be older than its page. */
type Read = { token: string; received: { event: ChatStreamEvent; revision: number | null }[] };

/** Writes messages from the stream and from calls into the query cache, which stores them. */
class ConversationStore {
  readonly #reads = new Set<Read>();
  /** Revisions from before a `reset`, until its page has been read. */
  readonly #revisionsBefore = new Map<string, number>();
  /** Counts clearings: a response to an earlier call must not bring messages back. */
  #clearings = 0;

  get = (token: string) => queryClient.getQueryData<Conversation>(conversationKey(token));

  async readNewest(token: string): Promise<Conversation> {
    const read: Read = { token, received: [] };
    const before = this.get(token);
    const clearingsBefore = this.#clearings;
    this.#reads.add(read);

    try {
      const page = await requestAs(token, 'getChat', { limit: messagesPerPage });
      const newest = read.received.reduce(
        (current, { event, revision }) => applyEvent(current, event, revision),
        withNewestPage(before, page),
      );

      // A sent message's response may be newer than the page.
      const wasCleared = clearingsBefore !== this.#clearings;
      return wasCleared ? newest : withNewer(newest, this.get(token));
    } finally {
      this.#reads.delete(read);
    }
  }

  /** Takes over the messages of the served frame, so that nothing is requested twice. */
  adoptServed(token: string): void {
    const shown = shownChat();
    if (shown?.token === token && !this.get(token))
      queryClient.setQueryData(conversationKey(token), conversationOf(shown.page));
  }

  reload = (token: string) => queryClient.refetchQueries({ queryKey: conversationKey(token) });

  apply(token: string, event: ChatStreamEvent, revision: number | null): void {
    // A restored database counts its revisions from below.
    if (event.type === 'reset') return this.#resetRevision(token);

    if (event.type === 'cleared') {
      this.#noteCleared();
      // An older one may be the reader's own, who has begun a new draft.
      if ((revision ?? 0) > this.revision(token)) dropDraft(token);
    }

    for (const read of this.#reads)
      if (read.token === token) read.received.push({ event, revision });
    change(token, (current) => applyEvent(current, event, revision));
  }

  revision = (token: string) => this.#revisionsBefore.get(token) ?? this.get(token)?.revision ?? 0;

  #resetRevision(token: string): void {
    this.#keepRevision(token);
    change(token, (current) => ({ ...current, revision: 0 }));
  }

  #keepRevision(token: string): void {
    if (!this.#revisionsBefore.has(token)) this.#revisionsBefore.set(token, this.revision(token));
  }

  /** Reads the newest page. Until this succeeds, a new stream begins at the revision before it. */
  async catchUp(token: string): Promise<void> {
    this.#keepRevision(token);
    await queryClient.refetchQueries({ queryKey: conversationKey(token) }, { throwOnError: true });
    this.#revisionsBefore.delete(token);
  }

  async loadOlder(token: string): Promise<void> {
    const before = this.get(token)?.messages[0]?.seq;
    if (before === undefined) return;
    const page: ChatPage = await requestAs(token, 'getChat', { before, limit: messagesPerPage });
    const continues = (current: Conversation) => current.messages[0]?.seq === before;
    change(token, (current) => (continues(current) ? withOlderPage(current, page) : current));
  }

  /** Reads what the stream missed. It shows no error: the state of the stream is on screen. */
  readMissed = (token: string) => void this.catchUp(token).catch(() => null);

  send = (token: string, id: string, text: string) =>
    this.storeSent(token, id, requestAs(token, 'sendMessage', { id, text }));

  /** Stores a sent message, unless the stream has brought a later state of it. */
  async storeSent(
    token: string,
    id: string,
    response: Promise<{ message: ChatMessage }>,
  ): Promise<ChatMessage> {
    const before = ownMessage(this.get(token), id);
    const clearingsBefore = this.#clearings;
    const { message } = await response;
    const isLatest = (current: Conversation) =>
      clearingsBefore === this.#clearings && ownMessage(current, id) === before;
    change(token, (current) => (isLatest(current) ? withMessage(current, message) : current));
    // The server is there: the reply must not wait for the next attempt.
    sessionStream.reconnect();
    void lookForReply(
      () => !this.#awaitsReply(token, message.seq),
      () => this.readMissed(token),
    );
    return message;
  }

  #awaitsReply(token: string, seq: number): boolean {
    const current = this.get(token);
    return current !== undefined && awaitsReply(current, seq);
  }

  async acceptConsent(token: string, version: string): Promise<void> {
    const { consent } = await requestAs(token, 'putChatConsent', { version });
    change(token, (current) => ({ ...current, consent }));
  }

  async withdrawConsent(token: string): Promise<void> {
    await requestAs(token, 'deleteChatConsent');
    await this.#reloadCleared(token);
  }

  async clear(token: string): Promise<void> {
    await requestAs(token, 'clearChat');
    await this.#reloadCleared(token);
  }

  /** Reads the conversation again if the server lacks the consent, so that the page asks for it. */
  async refreshAfter(token: string, error: unknown): Promise<void> {
    if (error instanceof ApiError && error.code === 'consent_needed') await this.reload(token);
  }

  async #reloadCleared(token: string): Promise<void> {
    this.#noteCleared();
    dropDraft(token);
    await this.reload(token);
  }

  #noteCleared(): void {
    this.#clearings += 1;
    runningWork.stop('player');
    drafts.removeUnsent();
    void closeShownNotices();
  }
}

/** It belongs to the conversation that was cleared. */
function dropDraft(token: string): void {
  drafts.write('');
  voiceStore.drop(token);
}

export const conversationStore = new ConversationStore();

function ownMessage(current: Conversation | undefined, wanted: string): ChatMessage | undefined {
  return current?.messages.find(({ id, author }) => id === wanted && author === 'user');
}

function change(token: string, update: (current: Conversation) => Conversation): void {
  queryClient.setQueryData<Conversation>(
    conversationKey(token),
    (current) => current && update(current),
  );
}
