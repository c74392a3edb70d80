import type { Env } from '../env.ts';
import type { FeedMessage } from './feed.ts';

type Receiver = { take: (message: FeedMessage) => void; ended: () => void };

/** A stream's end of the feed. What arrives before somebody listens is kept, so that no change falls in between. */
export class FeedSocket {
  readonly #socket: WebSocket;
  #early: FeedMessage[] = [];
  #closed = false;
  #receiver: Receiver | undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#arrived(data));
    for (const event of ['close', 'error'] as const) socket.addEventListener(event, () => this.#ended());
    socket.accept();
  }

  /** Receives everything published for a user from now on. */
  static async join(env: Env, userId: string): Promise<FeedSocket> {
    const answer = await env.USAGE_FEED.getByName(userId).fetch('https://feed/', { headers: { upgrade: 'websocket' } });
    return new FeedSocket(answer.webSocket!);
  }

  listen(receiver: Receiver): void {
    this.#receiver = receiver;
    for (const message of this.#early) receiver.take(message);
    this.#early = [];
    if (this.#closed) receiver.ended();
  }

  ping(): void {
    if (!this.#closed) this.#socket.send('ping');
  }

  close(): void {
    if (!this.#closed) this.#socket.close(1000);
    this.#closed = true;
  }

  #arrived(data: unknown): void {
    if (data === 'pong' || typeof data !== 'string') return;
    const message = JSON.parse(data) as FeedMessage;
    if (this.#receiver) this.#receiver.take(message);
    else this.#early.push(message);
  }

  #ended(): void {
    this.#closed = true;
    this.#receiver?.ended();
  }
}
