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
import { ApiError } from './api-errors.ts';
import { shownChat, clearShownChat } from './early-start.ts';
import { queryClient } from './query-client.ts';
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { connectionState } from './event-stream.ts';
import { followConversation, retryStream } from './session-stream.ts';
import { drafts } from './chat-drafts.ts';
import { closeShownNotices } from './shown-notices.ts';
import { started } from './started.ts';
import { voiceStore } from './voice-store.ts';

const key = (token: string) => ['chat', token] as const;

// Defaults instead of options, because data that `setQueryData` stores has no other query function to read it again.
queryClient.setQueryDefaults(['chat'], {
  queryFn: ({ queryKey }) => readNewest(String(queryKey[1])),
  staleTime: Infinity,
  // The page observes the cache directly (React Query's hook is 2.7 KiB), so no hook prevents garbage collection.
  gcTime: Infinity,
  meta: { silent: true },
});

type Received = { event: ChatStreamEvent; revision: number | null };

/** The events that arrive while a page is read, which may be older than they are. */
const reads = new Set<{ token: string; received: Received[] }>();

async function readNewest(token: string): Promise<Conversation> {
  const received: Received[] = [];
  const read = { token, received };
  const before = conversation.get(token);
  const count = clearings;
  reads.add(read);
  try {
    const page = await requestAs(token, 'getChat', { limit: messagesPerPage });
    const newest = received.reduce(
      (current, { event, revision }) => applyEvent(current, event, revision),
      withNewestPage(before, page),
    );
    // The response to a message that was sent meanwhile may be newer than the page.
    return count === clearings ? withNewer(newest, conversation.get(token)) : newest;
  } finally {
    reads.delete(read);
  }
}

/** The revisions before a `reset` whose page could not be read yet. */
const revisionsBefore = new Map<string, number>();
const readAgainMs = 5000;

/** The conversations in the query cache, which owns them. The stream and every call write into it. */
export const conversation = {
  get: (token: string) => queryClient.getQueryData<Conversation>(key(token)),

  /** Stores the page that the prerendered frame shows, so that React renders the same and nothing is requested twice. */
  takeShown(token: string): void {
    const shown = shownChat();
    if (shown?.token === token && !conversation.get(token))
      queryClient.setQueryData(key(token), conversationOf(shown.page));
  },

  reload: (token: string) => queryClient.refetchQueries({ queryKey: key(token) }),

  apply(token: string, event: ChatStreamEvent, revision: number | null): void {
    if (event.type === 'cleared') noteCleared();
    for (const read of reads) if (read.token === token) read.received.push({ event, revision });
    change(token, (current) => applyEvent(current, event, revision));
  },

  revision: (token: string) => revisionsBefore.get(token) ?? conversation.get(token)?.revision ?? 0,

  forgetRevision(token: string): void {
    if (!revisionsBefore.has(token)) revisionsBefore.set(token, conversation.revision(token));
    change(token, (current) => ({ ...current, revision: 0 }));
  },

  /** Reads what the stream cannot deliver. Until it succeeds a stream continues where it was. */
  async catchUp(token: string): Promise<void> {
    if (!revisionsBefore.has(token)) revisionsBefore.set(token, conversation.revision(token));
    await queryClient.refetchQueries({ queryKey: key(token) }, { throwOnError: true });
    revisionsBefore.delete(token);
  },

  async loadOlder(token: string): Promise<void> {
    const before = conversation.get(token)?.messages[0]?.seq;
    if (before === undefined) return;
    const page: ChatPage = await requestAs(token, 'getChat', { before, limit: messagesPerPage });
    const continues = (current: Conversation) => current.messages[0]?.seq === before;
    change(token, (current) => (continues(current) ? withOlderPage(current, page) : current));
  },

  /** Reads what a silent stream has not brought. A failure shows nothing: the state of the stream is on screen. */
  readMissed: (token: string) => void conversation.catchUp(token).catch(() => null),

  send: (token: string, id: string, text: string) =>
    conversation.keepSent(token, id, requestAs(token, 'sendMessage', { id, text })),

  /** Shows what the response to a message says, unless the stream has brought a later state of it meanwhile. */
  async keepSent(
    token: string,
    id: string,
    response: Promise<{ message: ChatMessage }>,
  ): Promise<ChatMessage> {
    const before = ownMessage(conversation.get(token), id);
    const count = clearings;
    const { message } = await response;
    const isLatest = (current: Conversation) =>
      count === clearings && ownMessage(current, id) === before;
    change(token, (current) => (isLatest(current) ? withMessage(current, message) : current));
    // The server can be reached, so the reply must not wait for the next attempt.
    retryStream();
    void lookForReply(token, message.seq);
    return message;
  },

  async accept(token: string, version: string): Promise<void> {
    const { consent } = await requestAs(token, 'putChatConsent', { version });
    change(token, (current) => ({ ...current, consent }));
  },

  async withdraw(token: string): Promise<void> {
    await requestAs(token, 'deleteChatConsent');
    await afterClearing(token);
  },

  /** If the server misses the consent, the page asks for it again. */
  async refreshAfter(token: string, error: unknown): Promise<void> {
    if (error instanceof ApiError && error.code === 'consent_needed')
      await conversation.reload(token);
  },

  async clear(token: string): Promise<void> {
    await requestAs(token, 'clearChat');
    await afterClearing(token);
  },
};

/** When a page whose stream has brought nothing since a message was sent reads the conversation itself (ms after it). */
const looks = [4000, 10_000, 20_000, 35_000, 60_000, 90_000, 120_000];

/** Reads the reply to a message by calls, until the stream brings something, or the reply is there. */
async function lookForReply(token: string, seq: number): Promise<void> {
  const heardBefore = connectionState.get().events;
  const sentAt = performance.now();
  let isLeft = false;
  started.stop('looking for a reply');
  started.add('looking for a reply', () => {
    isLeft = true;
  });
  for (const look of looks) {
    const left = sentAt + look - performance.now();
    await new Promise((resolve) => setTimeout(resolve, left));
    const current = conversation.get(token);
    const isHeard = connectionState.get().events !== heardBefore;
    if (isLeft || isHeard || !current || !awaitsReply(current, seq)) return;
    conversation.readMissed(token);
  }
}

/** How often a conversation was cleared. A response to an earlier call must not bring messages back. */
let clearings = 0;

async function afterClearing(token: string): Promise<void> {
  noteCleared();
  // What was written for a conversation that its owner has cleared goes with it.
  drafts.write('');
  voiceStore.drop(token);
  await conversation.reload(token);
}

/** Nothing of a cleared conversation goes on, here or where it was cleared. */
function noteCleared(): void {
  clearings += 1;
  started.stop('player');
  drafts.removeUnsent();
  void closeShownNotices();
}

function ownMessage(current: Conversation | undefined, wanted: string): ChatMessage | undefined {
  return current?.messages.find(({ id, author }) => id === wanted && author === 'user');
}

function change(token: string, update: (current: Conversation) => Conversation): void {
  queryClient.setQueryData<Conversation>(key(token), (current) => current && update(current));
}

/** The conversation of a session, kept live while the page is open. */
export function useConversation(token: string) {
  const [isFailed, setFailed] = useState(false);
  // Before the first render, which takes over the frame with its messages.
  useState(() => conversation.takeShown(token));
  const read = () => conversation.get(token);
  const data = useSyncExternalStore(subscribe, read, read);
  const isLoaded = data !== undefined;
  const load = useCallback(
    () => queryClient.fetchQuery({ queryKey: key(token) }).catch(() => setFailed(true)),
    [token],
  );
  useEffect(() => {
    clearShownChat();
    void load();
  }, [load]);
  const retry = () => {
    setFailed(false);
    void load();
  };
  useEffect(() => {
    if (!isLoaded) return undefined;
    let isEnded = false;
    const catchUp = (): void => {
      if (!isEnded) conversation.catchUp(token).catch(() => setTimeout(catchUp, readAgainMs));
    };
    const unfollow = followConversation({
      token,
      revision: () => conversation.revision(token),
      onEvent: (event, revision) => {
        if (event.type === 'reset') {
          // After a restore of the database, the revisions begin again below the known one.
          conversation.forgetRevision(token);
          catchUp();
        } else conversation.apply(token, event, revision);
      },
      read: () => conversation.readMissed(token),
    });
    return () => {
      isEnded = true;
      unfollow();
    };
  }, [token, isLoaded]);
  return { conversation: data, isFailed, retry };
}

export const useConnection = () =>
  useSyncExternalStore(connectionState.subscribe, () => connectionState.get().status, atStart);

const atStart = () => 'connecting' as const;

const subscribe = (listener: () => void) => queryClient.getQueryCache().subscribe(listener);
