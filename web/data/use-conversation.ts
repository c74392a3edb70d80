import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { clearShownChat, shownChat } from '../start/early-start.ts';
import { serverClock } from './clock.ts';
import { conversationKey, conversationStore } from './conversation-store.ts';
import { connectionState } from './event-stream.ts';
import { queryClient } from './query-client.ts';
import { session } from './session.ts';
import { sessionStream } from './session-stream.ts';

const readAgainMs = 5000;

/** Returns the token of the chat; null before the user is known. */
export const useChatToken = () =>
  useSyncExternalStore(session.subscribe, userToken, () => shownChat()?.token ?? null);

function userToken(): string | null {
  const { token, user } = session.get();
  return user ? token : null;
}

/** Returns when the chat was opened, in ms by the server's clock. */
export const useOpenedAt = (): number =>
  useState(() => shownChat()?.openedAt ?? serverClock.now())[0];

export function useConversation(token: string) {
  // This precedes the first render, which takes over the frame.
  useState(() => conversationStore.adoptServed(token));
  const read = () => conversationStore.get(token);
  const conversation = useSyncExternalStore(subscribe, read, read);
  const { isFailed, retry } = useLoading(token);
  useConversationStream(token, conversation !== undefined);
  return { conversation, isFailed, retry };
}

function useLoading(token: string) {
  const [isFailed, setFailed] = useState(false);
  const load = useCallback(
    () => queryClient.fetchQuery({ queryKey: conversationKey(token) }).catch(() => setFailed(true)),
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
  return { isFailed, retry };
}

function useConversationStream(token: string, isLoaded: boolean): void {
  useEffect(() => {
    if (!isLoaded) return undefined;

    let isEnded = false;
    const catchUp = (): void => {
      if (!isEnded) conversationStore.catchUp(token).catch(() => setTimeout(catchUp, readAgainMs));
    };

    const unfollow = sessionStream.followConversation({
      token,
      revision: () => conversationStore.revision(token),
      onEvent: (event, revision) => {
        conversationStore.apply(token, event, revision);
        if (event.type === 'reset') catchUp();
      },
      read: () => conversationStore.readMissed(token),
    });

    return () => {
      isEnded = true;
      unfollow();
    };
  }, [token, isLoaded]);
}

export const useConnection = () =>
  useSyncExternalStore(connectionState.subscribe, () => connectionState.get().status, atStart);

const atStart = () => 'connecting' as const;

const subscribe = (listener: () => void) => queryClient.getQueryCache().subscribe(listener);
