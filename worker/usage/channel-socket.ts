import type { Env } from '../env.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import { replacedCode, type StreamOwner } from './open-streams.ts';
import type { ChannelMessage } from './usage-channel.ts';

type Receiver = { take: (message: ChannelMessage) => void; ended: (why: 'replaced' | 'closed') => void };

/** With a ping every 20 s a dead connection is noticed within 25 s. */
const pongWithinMs = 5000;

/** A stream's connection to its user's channel. Buffers messages until `listen` is called, so that none is lost. */
export class ChannelSocket {
  readonly #socket: WebSocket;
  #early: ChannelMessage[] = [];
  #ended: 'replaced' | 'closed' | undefined;
  #receiver: Receiver | undefined;
  #pongTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#arrived(data));
    socket.addEventListener('close', ({ code }) => this.#end(code === replacedCode ? 'replaced' : 'closed'));
    socket.addEventListener('error', () => this.#end('closed'));
    socket.accept();
  }

  /** Receives everything published for a user from now on; throws 503 when the channel cannot be reached. */
  static async join(env: Env, userId: string): Promise<ChannelSocket> {
    const response = await env.USAGE_CHANNEL.getByName(userId)
      .fetch('https://channel/', { headers: { upgrade: 'websocket' } })
      .catch(() => null);
    if (response?.webSocket) return new ChannelSocket(response.webSocket);
    log('error', 'channel_unreachable', { status: response?.status });
    throw new RequestError('unavailable');
  }

  /** Counts the stream among the open ones of its user. */
  admit(owner: StreamOwner): void {
    this.#send(JSON.stringify(owner));
  }

  listen(receiver: Receiver): void {
    this.#receiver = receiver;
    for (const message of this.#early) receiver.take(message);
    this.#early = [];
    if (this.#ended) receiver.ended(this.#ended);
  }

  ping(): void {
    this.#send('ping');
    this.#pongTimer ??= setTimeout(() => this.#lose(), pongWithinMs);
  }

  close(): void {
    this.#clearPongTimer();
    if (!this.#ended) this.#socket.close(1000);
    this.#ended ??= 'closed';
  }

  #send(text: string): void {
    if (this.#ended) return;
    try {
      this.#socket.send(text);
    } catch {
      this.#lose();
    }
  }

  #arrived(data: unknown): void {
    if (data === 'pong') return this.#clearPongTimer();
    if (typeof data !== 'string') return;
    const message: ChannelMessage = JSON.parse(data);
    if (this.#receiver) this.#receiver.take(message);
    else this.#early.push(message);
  }

  /** The other end has closed the socket. */
  #lose(): void {
    log('info', 'channel_lost', {});
    this.#socket.close(1000);
    this.#end('closed');
  }

  #end(why: 'replaced' | 'closed'): void {
    this.#clearPongTimer();
    if (this.#ended) return;
    this.#ended = why;
    this.#receiver?.ended(why);
  }

  #clearPongTimer(): void {
    clearTimeout(this.#pongTimer);
    this.#pongTimer = undefined;
  }
}
