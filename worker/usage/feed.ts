import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';

/**
 * What travels from a change to the open streams of one user. Totals carry an order (`seq`), so that late, doubled
 * or lost ones heal; `resetsAt` in unix ms, null while no new week opens.
 */
export type FeedMessage =
  | { kind: 'total'; seq: number; used: number; resetsAt: number | null }
  | { kind: 'changed' }
  | { kind: 'end'; sessionId: string | null };

/** One per user: passes messages on to the Workers that hold the user's streams, and sleeps in between. */
export class UsageFeed extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair('ping', 'pong'));
  }

  override fetch(): Response {
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.ctx.acceptWebSocket(ours);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  publish(messages: FeedMessage[]): void {
    const texts = messages.map((message) => JSON.stringify(message));
    for (const socket of this.ctx.getWebSockets()) {
      if (socket.readyState !== WebSocket.OPEN) continue;
      for (const text of texts) socket.send(text);
    }
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }
}
