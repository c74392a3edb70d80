import { pageRoutes, type PageCall } from '#contract/routes';
import { connectionEstablished, streamBeat, streamReplaced } from '#contract/usage-stream';
import { readBeat, reconnectDelay } from '../rules/stream-events.ts';
import { requestAs } from './api-client.ts';
import { apiBase } from './build-settings.ts';
import { serverClock } from './clock.ts';
import { createStore } from './store.ts';
import * as timeLimits from './time-limits.ts';

export type StreamName = Extract<PageCall, 'usageStream' | 'chatStream'>;

type Options = {
  token: string;
  name: StreamName;
  query: () => Record<string, string>;
  onOpen: (data: string) => void;
  onMessage: (data: string, id: string) => void;
  /** Called if no event follows a ticket, as behind a buffering proxy. */
  onSilence: () => void;
};

/** `lost` after the last attempt, `replaced` by the user's newer stream. */
type StreamState = 'opening' | 'live' | 'waiting' | 'lost' | 'replaced' | 'closed';

/** ms for which a stream counts as open without an event: a beat comes every 20 s. */
const trustedMs = 25_000;

export class StreamReader {
  readonly #options: Options;
  #state: StreamState = 'opening';
  #source: EventSource | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Attempts of the present series. */
  #attempts = 0;
  /** Number of the newest attempt: a late ticket of an earlier one opens nothing. */
  #newestAttempt = 0;
  /** Time of the last event, or of the attempt's begin (ms, monotonic). */
  #lastEventAt = 0;

  constructor(options: Options) {
    this.#options = options;
    setStatus('connecting');
    void this.#connect();
  }

  close(): void {
    this.#stop('closed');
    setStatus('closed');
  }

  /** Begins a new series, unless the stream is known to be alive. */
  reconnect(): void {
    if (this.#state === 'closed' || this.#isTrusted()) return;
    this.#attempts = 0;
    setStatus('connecting');
    void this.#connect();
  }

  /** Begins again after a stream has ended. A running series keeps its times. */
  noteConnection(): void {
    if (this.#state === 'lost' || this.#state === 'live') this.reconnect();
  }

  /** Whether events prove the stream alive. Timers do not: a device that slept has run none. */
  #isTrusted(): boolean {
    const silence = performance.now() - this.#lastEventAt;
    if (this.#state === 'live')
      return silence < trustedMs && this.#source?.readyState === EventSource.OPEN;
    return this.#state === 'opening' && silence < timeLimits.openingMs;
  }

  async #connect(): Promise<void> {
    this.#stop('opening');
    this.#newestAttempt += 1;
    this.#lastEventAt = performance.now();
    const attempt = this.#newestAttempt;
    const { token, name, query } = this.#options;

    const ticket = await requestTicket(token);
    if (this.#newestAttempt !== attempt || this.#state !== 'opening') return;
    if (ticket === null) return this.#retry();

    this.#lastEventAt = performance.now();
    const search = new URLSearchParams({ token: ticket, ...query() });
    this.#source = this.#listen(`${apiBase}${pageRoutes[name].path}?${search}`);
    this.#timer = setTimeout(() => this.#endSilence(), timeLimits.openingMs);
  }

  #listen(address: string): EventSource {
    const source = new EventSource(address, { withCredentials: true });
    const on = (type: string, react: (event: MessageEvent<unknown>) => void) =>
      source.addEventListener(type, (event) => {
        if (source === this.#source) react(event as MessageEvent<unknown>);
      });

    on(connectionEstablished, ({ data }) => {
      this.#noteEvent();
      this.#options.onOpen(String(data));
    });
    on(streamBeat, ({ data }) => {
      this.#noteEvent();
      serverClock.learn(readBeat(String(data)));
    });
    on('message', ({ data, lastEventId }) => {
      this.#noteEvent();
      this.#options.onMessage(String(data), lastEventId);
    });

    // Reconnecting would end another tab's stream.
    on(streamReplaced, () => this.#giveUp('replaced'));
    on('error', () => this.#retry());

    return source;
  }

  /** Notes an event. Headers prove nothing: a proxy may pass them on without a stream. */
  #noteEvent(): void {
    const wasLive = this.#state === 'live';
    this.#state = 'live';
    this.#attempts = 0;
    this.#lastEventAt = performance.now();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#endSilence(), timeLimits.silenceMs);
    if (!wasLive) setStatus('live');
    connectionState.addEvent();
  }

  #endSilence(): void {
    if (this.#state === 'live') return this.reconnect();
    this.#options.onSilence();
    this.#retry();
  }

  // The browser must not reconnect by itself: a ticket lasts a minute.
  #retry(): void {
    this.#attempts += 1;
    const wait = reconnectDelay(this.#attempts);
    if (wait === null) return this.#giveUp('lost');
    this.#stop('waiting');
    setStatus('reconnecting', this.#attempts);
    this.#timer = setTimeout(() => void this.#connect(), wait);
  }

  #giveUp(state: 'lost' | 'replaced'): void {
    this.#stop(state);
    setStatus('lost', this.#attempts);
  }

  #stop(state: StreamState): void {
    this.#state = state;
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }
}

/** Returns null after a failure; the next attempt asks again. */
async function requestTicket(token: string): Promise<string | null> {
  return requestAs(token, 'streamTicket').then(
    ({ ticket }) => ticket,
    () => null,
  );
}

export type ConnectionStatus = 'closed' | 'connecting' | 'live' | 'reconnecting' | 'lost';

type Connection = {
  status: ConnectionStatus;
  attempts: number;
  /** Number of totals that the stream has sent. */
  counts: number;
  events: number;
};

const store = createStore<Connection>({
  // The stream opens right after the page's start.
  status: 'connecting',
  attempts: 0,
  counts: 0,
  events: 0,
});

function setStatus(status: ConnectionStatus, attempts = 0): void {
  store.set({ status, attempts });
}

export const connectionState = {
  get: store.get,
  subscribe: store.subscribe,
  addEvent: () => store.set({ events: store.get().events + 1 }),
  addCount: () => store.set({ counts: store.get().counts + 1 }),
};
