import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { readChatEvent } from '../rules/read-chat-event.ts';
import { conversation, conversationQuery } from './conversation.ts';
import { clearShownChat } from './early-start.ts';
import { openEventStream } from './event-stream.ts';
import { queryClient } from './query-client.ts';

const firstDelayMs = 1000;
const longestDelayMs = 30_000;

/** The conversation of a session, kept live while the page is open. `isLive` is false while the stream reconnects. */
export function useConversation(token: string) {
  const [isLive, setLive] = useState(true);
  const [isFailed, setFailed] = useState(false);
  // Before the first render, which takes over the frame with its messages.
  useState(() => conversation.takeShown(token));
  const read = () => conversation.get(token);
  const data = useSyncExternalStore(subscribe, read, read);
  const isLoaded = data !== undefined;
  const load = useCallback(
    () => queryClient.fetchQuery(conversationQuery(token)).catch(() => setFailed(true)),
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
    const stream = openEventStream({
      token,
      name: 'chatStream',
      query: () => ({ after: String(conversation.get(token)?.revision ?? 0) }),
      // Unlike the usage stream, this one never gives up.
      delay: (attempt) => Math.min(firstDelayMs * 2 ** (attempt - 1), longestDelayMs),
      onStatus: (status) => setLive(status === 'live' || status === 'connecting'),
      onMessage: (data, id) => {
        const event = readChatEvent(data);
        if (event?.type === 'reset') void conversation.reload(token);
        else if (event) conversation.apply(token, event, /^\d+$/.test(id) ? Number(id) : null);
      },
    });
    const retryWhenVisible = () => document.visibilityState === 'visible' && stream.retryNow();
    addEventListener('online', stream.retryNow);
    document.addEventListener('visibilitychange', retryWhenVisible);
    return () => {
      stream.close();
      removeEventListener('online', stream.retryNow);
      document.removeEventListener('visibilitychange', retryWhenVisible);
    };
  }, [token, isLoaded]);
  return { conversation: data, isFailed, retry, isLive };
}

const subscribe = (listener: () => void) => queryClient.getQueryCache().subscribe(listener);
