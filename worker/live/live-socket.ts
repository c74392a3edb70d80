import type { SessionRef } from '../identity/user-session.ts';
import type { Env } from '../env.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import type { ConversationChange, UsageChange } from './live-changes.ts';
import { liveUserOf } from './publish.ts';

type Change = UsageChange | ConversationChange;
type Receiver = {
  receive: (change: Change) => void;
  ended: (code: number) => void;
};

const gone = 1006;
/** A dead connection is noticed within 25 s. */
const pongWithinMs = 5000;

/** No change is lost before `listen`. */
export class LiveSocket {
  readonly #socket: WebSocket;
  readonly #session: SessionRef;
  #early: Change[] = [];
  #ended: number | undefined;
  #receiver: Receiver | undefined;
  #pongTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(socket: WebSocket, session: SessionRef) {
    this.#socket = socket;
    this.#session = session;
    socket.addEventListener('message', ({ data }) => this.#arrived(data));
    socket.addEventListener('close', ({ code }) => this.#end(code));
    socket.addEventListener('error', () => this.#end(gone));
    socket.accept();
  }

  /** Throws 503 if it cannot be reached. */
  static async join(
    env: Env,
    session: SessionRef,
    query: Record<string, string>,
  ): Promise<LiveSocket> {
    const { userId, sessionId } = session;
    const params = new URLSearchParams({
      ...query,
      user: userId,
      session: sessionId,
    });
    const response = await liveUserOf(env, userId)
      .fetch(`https://object/?${params.toString()}`, { headers: { upgrade: 'websocket' } })
      .catch(() => null);
    if (response?.webSocket) return new LiveSocket(response.webSocket, session);
    log('error', 'live_object_unreachable', { status: response?.status });
    throw new RequestError('unavailable', { retryAfter: 1 });
  }

  admit(): void {
    this.#send(JSON.stringify(this.#session));
  }

  listen(receiver: Receiver): void {
    this.#receiver = receiver;
    for (const change of this.#early) receiver.receive(change);
    this.#early = [];
    if (this.#ended !== undefined) receiver.ended(this.#ended);
  }

  ping(): void {
    this.#send('ping');
    this.#pongTimer ??= setTimeout(() => this.#lose(), pongWithinMs);
  }

  close(): void {
    this.#clearPongTimer();
    if (this.#ended === undefined) this.#socket.close(1000);
    this.#ended ??= 1000;
  }

  #send(text: string): void {
    if (this.#ended !== undefined) return;
    try {
      this.#socket.send(text);
    } catch {
      this.#lose();
    }
  }

  #arrived(data: unknown): void {
    if (data === 'pong') return this.#clearPongTimer();
    if (typeof data !== 'string') return;
    const change: Change = JSON.parse(data);
    if (this.#receiver) this.#receiver.receive(change);
    else this.#early.push(change);
  }

  #lose(): void {
    log('info', 'live_socket_lost', {});
    this.#socket.close(1000);
    this.#end(gone);
  }

  #end(code: number): void {
    this.#clearPongTimer();
    if (this.#ended !== undefined) return;
    this.#ended = code;
    this.#receiver?.ended(code);
  }

  #clearPongTimer(): void {
    clearTimeout(this.#pongTimer);
    this.#pongTimer = undefined;
  }
}
