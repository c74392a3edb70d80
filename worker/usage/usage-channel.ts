import { DurableObject } from 'cloudflare:workers';
import { openDatabase } from '../lib/database.ts';
import { settingsOf } from '../settings.ts';
import { liveSessions } from '../accounts/user-session.ts';
import { admitStream, openStreams } from './open-streams.ts';

/**
 * A change for the open streams of one user. Totals carry an order (`seq`), so late, repeated or lost messages do no
 * harm; `resetsAt` in unix ms, null while the week is frozen.
 */
export type ChannelMessage =
  | { kind: 'total'; seq: number; used: number; resetsAt: number | null }
  | { kind: 'changed' }
  | { kind: 'end'; sessionId: string | null };

const checkEveryMs = 10_000;
const checkUntilKey = 'checkUntil';

/** One per user: relays messages to the Workers that hold the user's streams, and hibernates in between. */
export class UsageChannel extends DurableObject<object> {
  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair('ping', 'pong'));
  }

  override fetch(): Response {
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.ctx.acceptWebSocket(ours);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  publish(messages: ChannelMessage[]): void {
    const texts = messages.map((message) => JSON.stringify(message));
    for (const socket of this.ctx.getWebSockets()) {
      if (socket.readyState !== WebSocket.OPEN) continue;
      for (const text of texts) socket.send(text);
    }
  }

  /**
   * Called before sessions of the user end. The alarm then compares the streams with the database, since the `end`
   * message is lost when the Worker that ends the session is killed. A later call never postpones the alarm.
   */
  async expectEnd(): Promise<void> {
    if (this.ctx.getWebSockets().length === 0) return;
    const checkAt = Date.now() + checkEveryMs;
    await this.ctx.storage.put(checkUntilKey, checkAt);
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(checkAt);
  }

  override async alarm(): Promise<void> {
    const checked = await this.#closeEndedStreams();
    const checkUntil = (await this.ctx.storage.get<number>(checkUntilKey)) ?? 0;
    if (!checked || Date.now() < checkUntil) await this.ctx.storage.setAlarm(Date.now() + checkEveryMs);
    else await this.ctx.storage.delete(checkUntilKey);
  }

  /** Counts the stream as one of the user's: its session was found live. */
  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    if (typeof message === 'string') admitStream(this.ctx, socket, JSON.parse(message));
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  /** Whether the database responded, or no request was needed. */
  async #closeEndedStreams(): Promise<boolean> {
    const streams = openStreams(this.ctx);
    const settings = settingsOf(this.env);
    if (streams.length === 0 || !settings) return true;
    try {
      const db = openDatabase(settings, { requests: 0, unreachable: false });
      const live = await liveSessions(db, streams[0]!.userId, Date.now());
      for (const { socket, sessionId } of streams) if (!live.has(sessionId)) socket.close(1000);
      return true;
    } catch {
      return false;
    }
  }
}
