import { pageRoutes, type PageCall } from '#contract/routes';
import { connectionEstablished, streamReplaced } from '#contract/usage-stream';
import { reconnectDelay } from '../rules/stream-events.ts';
import { requestAs } from './api-client.ts';
import { apiBase } from './build-settings.ts';
import { createStore } from './store.ts';

export type StreamName = Extract<PageCall, 'usageStream' | 'chatStream'>;

type Options = {
  token: string;
  name: StreamName;
  query: () => Record<string, string>;
  onOpen: (data: string) => void;
  onMessage: (data: string, id: string) => void;
};

/** A stream of server-sent events that reconnects until it is closed; `connectionState` shows its state. */
export class StreamReader {
  readonly #options: Options;
  #source: EventSource | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempts = 0;
  #isWaiting = false;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
    setStatus('connecting');
    void this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#source?.close();
    setStatus('closed');
  }

  /** Connects at once if the stream waits for its next attempt or has given up, and counts the attempts anew. */
  retryNow(): void {
    if (this.#isClosed || !this.#isWaiting) return;
    clearTimeout(this.#timer);
    this.#attempts = 0;
    void this.#connect();
  }

  async #connect(): Promise<void> {
    this.#isWaiting = false;
    const { token, name, query } = this.#options;
    const ticket = await requestTicket(token);
    if (this.#isClosed) return;
    if (ticket === null) return this.#retry();
    const search = new URLSearchParams({ token: ticket, ...query() });
    this.#source = this.#listen(`${apiBase}${pageRoutes[name].path}?${search}`);
  }

  #listen(address: string): EventSource {
    const source = new EventSource(address, { withCredentials: true });
    source.addEventListener('open', () => this.#live());
    source.addEventListener(connectionEstablished, ({ data }) => {
      this.#live();
      this.#options.onOpen(String(data));
    });
    source.addEventListener('message', ({ data, lastEventId }) =>
      this.#options.onMessage(String(data), lastEventId),
    );
    // Reconnecting at once would end the stream of another tab.
    source.addEventListener(streamReplaced, () => this.#giveUp());
    source.addEventListener('error', () => this.#retry());
    return source;
  }

  #live(): void {
    this.#attempts = 0;
    setStatus('live');
  }

  // A ticket is valid for a minute, so the browser must not reconnect by itself with the same address.
  #retry(): void {
    if (this.#isClosed) return;
    this.#attempts += 1;
    const wait = reconnectDelay(this.#attempts);
    if (wait === null) return this.#giveUp();
    this.#source?.close();
    this.#isWaiting = true;
    setStatus('reconnecting', this.#attempts);
    this.#timer = setTimeout(() => void this.#connect(), wait);
  }

  #giveUp(): void {
    this.#source?.close();
    this.#isWaiting = true;
    setStatus('lost', this.#attempts);
  }
}

/** A ticket for a stream; null after a failure, and the next attempt requests another. */
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

function setStatus(status: ConnectionStatus, attempts = 0): void {
  store.set({ status, attempts });
}

/** The state of the session's live stream; `counts` is the number of totals that it has sent. */
export const connectionState = {
  get: store.get,
  subscribe: store.subscribe,
  addCount: () => store.set({ counts: store.get().counts + 1 }),
};
