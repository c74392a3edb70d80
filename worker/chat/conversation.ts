import { DurableObject } from 'cloudflare:workers';
import { mostReplayedChanges } from '../contract/chat-limits.ts';
import type { MessageState } from '../contract/chat.ts';
import { toBase64 } from '../lib/crypto.ts';
import { openDatabase } from '../lib/database.ts';
import { settingsOf } from '../settings.ts';
import { admitStream, openStreams, type StreamOwner } from '../usage/open-streams.ts';
import { liveSessions } from '../accounts/user-session.ts';
import {
  MessageTable,
  type Appended,
  type StaleEpoch,
  type ConversationEvent,
  type NewStoredMessage,
  type QueuedMessage,
  type StoredMessage,
  type StoredPage,
} from '../live/message-table.ts';
import { dayMs, minuteMs } from '../lib/time.ts';

/** Weekly, since each alarm writes rows; messages stay up to a week longer than the setting. */
const retentionCheckMs = 7 * dayMs;
const checkEveryMs = 10_000;
const checkUntilKey = 'checkUntil';

/**
 * The conversation of one user: orders messages, stores their ciphertext, and sends changes to the Workers that hold
 * the user's streams. Callers pass the epoch of the user's row: if it is greater than the stored one, the conversation
 * was cleared while this object could not be reached.
 */
export class Conversation extends DurableObject<object> {
  readonly #table: MessageTable;
  #typingUntil = 0;
  #alarmIsSet = false;

  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env);
    this.#table = new MessageTable(ctx.storage.sql);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair('ping', 'pong'));
  }

  /** Opens a socket that receives the changes after `after`, then every new one. */
  override fetch(request: Request): Response {
    const { searchParams } = new URL(request.url);
    const after = searchParams.get('after');
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.ctx.acceptWebSocket(ours);
    this.#replay(ours, after === null ? null : Number(after));
    return new Response(null, { status: 101, webSocket: theirs });
  }

  /** Stores a message once for its id; a known id returns the stored message, even if a limit is reached. */
  async append(epoch: number, message: NewStoredMessage): Promise<Appended> {
    const now = Date.now();
    if (now > message.notAfter) return { outcome: 'late' };
    const behind = this.#follow(epoch);
    if (behind) return behind;
    const known = this.#table.find(message.id);
    if (known) return { outcome: 'known', ...this.#queued(known) };
    if (message.replyTo && this.#table.wasCleared(message.replyTo)) return { outcome: 'cleared' };
    const allowedAt = message.perMinute ? (this.#table.userMessageAt(message.perMinute) ?? 0) + minuteMs : 0;
    if (allowedAt > now) return { outcome: 'limited', allowedAt };
    const stored = this.#table.insert(message, now);
    this.#publishMessage(stored);
    if (stored.author === 'solace') this.#endTyping();
    await this.#setAlarm();
    return { outcome: 'stored', ...this.#queued(stored) };
  }

  /** A message of the present epoch, or null. */
  find(epoch: number, id: string): StoredMessage | null {
    return epoch === this.#table.head.epoch ? (this.#table.find(id) ?? null) : null;
  }

  /** As `message`, with the message that the bot must receive before it. */
  findQueued(epoch: number, id: string): QueuedMessage | null {
    const message = this.find(epoch, id);
    return message && this.#queued(message);
  }

  read(epoch: number, before: number | undefined, limit: number): StoredPage | StaleEpoch {
    const behind = this.#follow(epoch);
    if (behind) return behind;
    const typingUntil = this.#typingUntil > Date.now() ? this.#typingUntil : null;
    return { outcome: 'read', revision: this.#table.head.revision, ...this.#table.page(before, limit), typingUntil };
  }

  /** Moves a message from one of the states to another; returns the changed message, or null. */
  move(epoch: number, id: string, from: MessageState[], to: MessageState, notAfter = Infinity): StoredMessage | null {
    const message = this.find(epoch, id);
    if (!message || Date.now() > notAfter) return null;
    if (!from.includes(message.state)) return message;
    const moved = this.#table.setState(message, to);
    // A `state` event covers all messages up to one, and must not cover an older one that was sent again.
    const alone = message.state !== 'sent' || to === 'sent' || this.#table.sentBefore(moved.seq) !== null;
    if (alone) this.#publishMessage(moved);
    else this.#publish({ kind: 'state', revision: moved.revision, upTo: moved.seq, state: to });
    return moved;
  }

  /** Shows the typing indicator until an instant (unix ms); a past instant ends it. */
  type(epoch: number, until: number): void {
    if (this.#follow(epoch)) return;
    const typing = until > Date.now();
    this.#typingUntil = typing ? until : 0;
    this.#publish({ kind: 'typing', until: typing ? until : null });
  }

  /** Removes every message below the epoch; does nothing if they are removed already. */
  clear(epoch: number): void {
    this.#follow(epoch);
  }

  /** Removes everything for a deleted account, and ends its streams. */
  async erase(): Promise<void> {
    this.endStreams(null);
    await this.ctx.storage.deleteAll();
    this.#table.reset();
    this.#typingUntil = 0;
    this.#alarmIsSet = false;
  }

  /** Ends the streams of a session, or all of them. */
  endStreams(sessionId: string | null): void {
    for (const socket of this.ctx.getWebSockets()) {
      const owner: StreamOwner | null = socket.deserializeAttachment();
      // The session of a stream that is not admitted yet is unknown, so it ends too; its reader reconnects.
      if (sessionId === null || !owner || owner.sessionId === sessionId) socket.close(1000);
    }
  }

  /** As `UsageChannel.expectEnd`: the alarm closes the streams of ended sessions whose `end` message was lost. */
  async expectEnd(): Promise<void> {
    if (this.ctx.getWebSockets().length === 0) return;
    const checkAt = Date.now() + checkEveryMs;
    await this.ctx.storage.put(checkUntilKey, checkAt);
    const alarm = await this.ctx.storage.getAlarm();
    if (alarm === null || alarm > checkAt) await this.ctx.storage.setAlarm(checkAt);
  }

  /** Handles ended sessions and retention together, since an object has one alarm. */
  override async alarm(): Promise<void> {
    const days = settingsOf(this.env)?.CHAT_RETENTION_DAYS;
    const left = days === undefined || this.#table.removeBefore(Date.now() - days * dayMs);
    const checkAgain = await this.#checkSessions();
    this.#alarmIsSet = left || checkAgain;
    if (this.#alarmIsSet) await this.ctx.storage.setAlarm(Date.now() + (checkAgain ? checkEveryMs : retentionCheckMs));
  }

  /** Counts the stream as one of the user's: its session was found live. */
  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    if (typeof message === 'string') admitStream(this.ctx, socket, JSON.parse(message));
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  #queued(message: StoredMessage): QueuedMessage {
    return { message, sentBefore: this.#table.sentBefore(message.seq) };
  }

  #follow(epoch: number): StaleEpoch | null {
    const { head } = this.#table;
    if (epoch === head.epoch) return null;
    if (epoch < head.epoch) return { outcome: 'behind', epoch: head.epoch };
    this.#table.clear(epoch, Date.now());
    this.#publish({ kind: 'cleared', revision: this.#table.head.revision, epoch });
    this.#endTyping();
    return null;
  }

  #replay(socket: WebSocket, after: number | null): void {
    const { revision, epoch, clearedRevision } = this.#table.head;
    const typingUntil = this.#typingUntil > Date.now() ? this.#typingUntil : null;
    const reset = after !== null && (after > revision || revision - after > mostReplayedChanges);
    const events: ConversationEvent[] = [{ kind: 'joined', epoch, revision, typingUntil, reset }];
    if (after !== null && !reset) {
      if (after < clearedRevision) events.push({ kind: 'cleared', revision: clearedRevision, epoch });
      events.push(...this.#table.changedSince(after).map((message) => messageEvent(message, epoch)));
    }
    for (const event of events) socket.send(JSON.stringify(event));
  }

  #publishMessage(message: StoredMessage): void {
    this.#publish(messageEvent(message, this.#table.head.epoch));
  }

  #publish(event: ConversationEvent): void {
    const text = JSON.stringify(event);
    for (const socket of this.ctx.getWebSockets()) {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    }
  }

  #endTyping(): void {
    if (this.#typingUntil === 0) return;
    this.#typingUntil = 0;
    this.#publish({ kind: 'typing', until: null });
  }

  /** Closes the streams of ended sessions if some are expected; returns whether to check again. */
  async #checkSessions(): Promise<boolean> {
    const checkUntil = await this.ctx.storage.get<number>(checkUntilKey);
    const settings = settingsOf(this.env);
    if (checkUntil === undefined || !settings) return false;
    const streams = openStreams(this.ctx);
    try {
      const db = openDatabase(settings, { requests: 0, unreachable: false });
      const live = streams[0] ? await liveSessions(db, streams[0].userId, Date.now()) : new Set<string>();
      for (const { socket, sessionId } of streams) if (!live.has(sessionId)) socket.close(1000);
    } catch {
      return true;
    }
    if (Date.now() < checkUntil) return true;
    await this.ctx.storage.delete(checkUntilKey);
    return false;
  }

  async #setAlarm(): Promise<void> {
    if (this.#alarmIsSet) return;
    this.#alarmIsSet = true;
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + retentionCheckMs);
  }
}

function messageEvent({ sealed, ...rest }: StoredMessage, epoch: number): ConversationEvent {
  return { kind: 'message', revision: rest.revision, epoch, message: { ...rest, sealed: toBase64(sealed) } };
}
