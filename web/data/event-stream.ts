import { pageRoutes, type PageCall } from '#contract/routes';
import { connectionEstablished, streamReplaced } from '#contract/usage-stream';
import { requestAs } from './api-client.ts';
import { apiBase } from './config.ts';
import { createStore } from './store.ts';

type StreamName = Extract<PageCall, 'usageStream' | 'chatStream'>;

type Options = {
  token: string;
  name: StreamName;
  /** The query besides the ticket, evaluated for each connection. */
  query?: () => Record<string, string>;
  /** Milliseconds before the given attempt (1 is the first); null gives up. */
  delay: (attempt: number) => number | null;
  onStatus: (status: 'connecting' | 'live' | 'reconnecting' | 'lost' | 'closed', attempts: number) => void;
  /** Called with the data of the server's first event. */
  onOpen?: (data: string) => void;
  onMessage: (data: string, id: string) => void;
};

export type EventStream = {
  close: () => void;
  /** Connects at once if the stream is between attempts or has given up. */
  retryNow: () => void;
};

/** Keeps a stream of server-sent events open until it is closed. */
export function openEventStream({ token, name, query, delay, onStatus, onOpen, onMessage }: Options): EventStream {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempts = 0;
  let isWaiting = false;
  let closed = false;

  const connect = async () => {
    isWaiting = false;
    const ticket = await requestTicket(token);
    if (closed) return;
    if (ticket === null) return retry();
    const search = new URLSearchParams({ token: ticket, ...query?.() });
    source = listen(`${apiBase}${pageRoutes[name].path}?${search}`);
  };

  const listen = (address: string) => {
    const opened = new EventSource(address, { withCredentials: true });
    const live = () => {
      attempts = 0;
      onStatus('live', 0);
    };
    opened.addEventListener('open', live);
    opened.addEventListener(connectionEstablished, ({ data }) => {
      live();
      onOpen?.(String(data));
    });
    opened.addEventListener('message', ({ data, lastEventId }) => onMessage(String(data), lastEventId));
    // Reconnecting at once would end the stream of another tab.
    opened.addEventListener(streamReplaced, waitForPerson);
    opened.addEventListener('error', retry);
    return opened;
  };

  // A ticket opens one stream, so the browser must not reconnect by itself with the same address.
  const retry = () => {
    source?.close();
    if (closed) return;
    attempts += 1;
    const wait = delay(attempts);
    isWaiting = true;
    onStatus(wait === null ? 'lost' : 'reconnecting', attempts);
    if (wait !== null) timer = setTimeout(() => void connect(), wait);
  };

  const waitForPerson = () => {
    source?.close();
    isWaiting = true;
    onStatus('lost', attempts);
  };

  onStatus('connecting', 0);
  void connect();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
      source?.close();
      onStatus('closed', 0);
    },
    retryNow() {
      if (closed || !isWaiting) return;
      clearTimeout(timer);
      void connect();
    },
  };
}

/** A ticket for one stream; null after a failure, and the next attempt requests another. */
async function requestTicket(token: string): Promise<string | null> {
  return requestAs(token, 'streamTicket').then(
    ({ ticket }) => ticket,
    () => null,
  );
}

export type ConnectionStatus = 'closed' | 'connecting' | 'live' | 'reconnecting' | 'lost';

const store = createStore<{ status: ConnectionStatus; attempts: number; counts: number }>({
  // A page that shows the state opens the stream right after its start.
  status: 'connecting',
  attempts: 0,
  counts: 0,
});

/** The state of the live usage stream; `counts` is the number of totals that it has sent. */
export const connectionState = {
  get: store.get,
  subscribe: store.subscribe,
  setStatus: (status: ConnectionStatus, attempts = 0) => store.set({ status, attempts }),
  addCount: () => store.set({ counts: store.get().counts + 1 }),
};
