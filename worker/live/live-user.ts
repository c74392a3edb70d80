import { DurableObject } from 'cloudflare:workers';
import { liveSessions } from '../accounts/user-session.ts';
import { mostReplayedChanges } from '../contract/chat-limits.ts';
import type { MessageState } from '../contract/chat-schemas.ts';
import { toBase64 } from '../lib/crypto.ts';
import { openDatabase } from '../lib/database.ts';
import { describeError, log } from '../lib/log.ts';
import { dayMs, minuteMs } from '../lib/time.ts';
import { settingsOf } from '../settings.ts';
import {
  replacedCode,
  type ConversationChange,
  type StreamOwner,
  type Typing,
  type UsageChange,
} from './live-changes.ts';
import {
  MessageTable,
  type Appended,
  type NewStoredMessage,
  type QueuedMessage,
  type StaleEpoch,
  type StoredMessage,
  type StoredPage,
} from './message-table.ts';

/** What survives hibernation beside a socket: its stream's owner, and the order of admission; 0 before it. */
type Attachment = StreamOwner & { order: number };

const withConversation = 'conversation';
const streamsPerUser = 10;
/** At most daily, since each alarm writes rows; messages stay up to a day longer than the setting. */
const retentionCheckMs = dayMs;
const sessionCheckMs = 10_000;
const checkUntilKey = 'checkUntil';

/** The live object of one user: its streams and its messages. A caller's greater epoch means that it was cleared. */
export class LiveUser extends DurableObject<object> {
  readonly #table: MessageTable;
  #typing: (Typing & { until: number }) | null = null;
  #retentionIsPlanned = false;

  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env);
    this.#table = new MessageTable(ctx.storage.sql);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair('ping', 'pong'));
  }

  /** Opens a socket for changes of usage and, unless the query has `usage`, of the conversation after `after`. */
  override fetch(request: Request): Response {
    const { searchParams } = new URL(request.url);
    const { 0: theirs, 1: ours } = new WebSocketPair();
    if (searchParams.has('usage')) this.ctx.acceptWebSocket(ours);
    else {
      const after = searchParams.get('after');
      this.ctx.acceptWebSocket(ours, [withConversation]);
      this.#replay(ours, after === null ? null : Number(after));
    }
    const [userId, sessionId] = [searchParams.get('user'), searchParams.get('session')];
    if (userId && sessionId)
      ours.serializeAttachment({ userId, sessionId, order: 0 } satisfies Attachment);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  publish(changes: UsageChange[]): void {
    const sockets = this.ctx.getWebSockets();
    for (const change of changes) send(sockets, change);
  }

  /** Counts the stream as one of the user's, since its session was found live; the oldest ones beyond the limit end. */
  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    if (typeof message !== 'string') return;
    const { userId, sessionId }: StreamOwner = JSON.parse(message);
    const order = (this.#openStreams().at(-1)?.order ?? 0) + 1;
    socket.serializeAttachment({ userId, sessionId, order } satisfies Attachment);
    for (const oldest of this.#openStreams().slice(0, -streamsPerUser))
      oldest.socket.close(replacedCode);
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  endStreams(sessionId: string | null): void {
    for (const socket of this.ctx.getWebSockets()) {
      const owner: StreamOwner | null = socket.deserializeAttachment();
      // The Worker before this one names the owner only when it admits the stream; its reader reconnects.
      if (sessionId === null || !owner || owner.sessionId === sessionId) socket.close(1000);
    }
  }

  /** The alarm then compares the streams with the database, since a killed Worker never calls `endStreams`. */
  async expectEnd(): Promise<void> {
    if (this.ctx.getWebSockets().length === 0) return;
    const checkAt = Date.now() + sessionCheckMs;
    await this.ctx.storage.put(checkUntilKey, checkAt);
    await this.#alarmBy(checkAt);
  }

  /** Handles ended sessions and retention together, since an object has one alarm. */
  override async alarm(): Promise<void> {
    let next: number | null = Date.now() + retentionCheckMs;
    try {
      next = this.#removeExpired(Date.now());
      next = (await this.#closeEndedStreams()) ?? next;
    } catch (error) {
      // The platform gives an alarm up that has failed six times.
      log('error', 'retention_postponed', describeError(error));
    }
    this.#retentionIsPlanned = next !== null;
    if (next !== null) await this.#alarmBy(next);
  }

  /** Stores a message once for its id; a known id returns the stored message, even if a limit is reached. */
  async append(epoch: number, message: NewStoredMessage): Promise<Appended> {
    const now = Date.now();
    if (now > message.notAfter) return { outcome: 'late' };
    const behind = this.#follow(epoch);
    if (behind) return behind;
    const { known, at, sentBefore } = this.#table.before(message.id, message.perMinute);
    if (known) return { outcome: 'known', ...this.#queued(this.#table.find(message.id)!) };
    if (message.replyTo && this.#table.wasCleared(message.replyTo)) return { outcome: 'cleared' };
    const allowedAt = message.perMinute ? (at ?? 0) + minuteMs : 0;
    if (allowedAt > now) return { outcome: 'limited', allowedAt };
    const stored = this.#table.insert(message, now);
    this.#sendMessage(stored);
    if (stored.author === 'solace') this.#endTyping();
    await this.#planRetention();
    const { sealed: _, ...place } = stored;
    return { outcome: 'stored', watched: this.#isWatched(), message: place, sentBefore };
  }

  find(epoch: number, id: string): StoredMessage | null {
    return epoch === this.#table.head.epoch ? (this.#table.find(id) ?? null) : null;
  }

  readRecording(epoch: number, id: string): { message: StoredMessage; sealed: ArrayBuffer } | null {
    const message = this.find(epoch, id);
    const sealed = message && this.#table.recordingOf(message);
    return message && sealed ? { message, sealed } : null;
  }

  findQueued(epoch: number, id: string): QueuedMessage | null {
    const message = this.find(epoch, id);
    return message && this.#queued(message);
  }

  read(epoch: number, before: number | undefined, limit: number): StoredPage | StaleEpoch {
    const behind = this.#follow(epoch);
    if (behind) return behind;
    const { revision } = this.#table.head;
    return {
      outcome: 'read',
      revision,
      ...this.#table.page(before, limit),
      typingUntil: this.#presentTyping()?.until ?? null,
    };
  }

  /** Moves a message from one of the states to another; returns the changed message, or null. */
  move(
    epoch: number,
    id: string,
    from: MessageState[],
    to: MessageState,
    notAfter = Infinity,
  ): StoredMessage | null {
    const message = this.find(epoch, id);
    if (!message || Date.now() > notAfter) return null;
    if (!from.includes(message.state)) return message;
    const moved = this.#table.setState(message, to);
    // A `state` event covers all messages up to one, and must not cover an older one that was sent again.
    const alone =
      message.state !== 'sent' || to === 'sent' || this.#table.sentBefore(moved.seq) !== null;
    if (alone) this.#sendMessage(moved);
    else this.#send({ kind: 'state', revision: moved.revision, upTo: moved.seq, state: to });
    return moved;
  }

  replaceContent(epoch: number, id: string, sealed: ArrayBuffer): boolean {
    const message = this.find(epoch, id);
    if (message) this.#sendMessage(this.#table.setContent(message, sealed));
    return message !== null;
  }

  markCounted(epoch: number, id: string, sealed: ArrayBuffer): void {
    const message = this.find(epoch, id);
    if (message) this.#table.replaceSealed(message, sealed);
  }

  /** Shows the typing indicator until `until` (unix ms), with the text so far, which no storage ever holds. */
  type(epoch: number, until: number, sealed: ArrayBuffer | null): void {
    if (this.#follow(epoch)) return;
    if (until <= Date.now()) return this.#endTyping(true);
    this.#typing = { until, epoch, sealed: sealed && toBase64(sealed) };
    this.#send({ kind: 'typing', ...this.#typing });
  }

  clear(epoch: number): void {
    this.#follow(epoch);
  }

  async erase(): Promise<void> {
    this.endStreams(null);
    await this.ctx.storage.deleteAll();
    this.#table.reset();
    this.#typing = null;
    this.#retentionIsPlanned = false;
  }

  #isWatched(): boolean {
    return this.ctx.getWebSockets().some(({ readyState }) => readyState === WebSocket.OPEN);
  }

  #openStreams(): (Attachment & { socket: WebSocket })[] {
    return this.ctx
      .getWebSockets()
      .filter(({ readyState }) => readyState === WebSocket.OPEN)
      .flatMap((socket) => {
        const attachment: Attachment | null = socket.deserializeAttachment();
        return attachment?.order ? [{ socket, ...attachment }] : [];
      })
      .toSorted((one, other) => one.order - other.order);
  }

  /** Closes streams of ended sessions, while `expectEnd` may run; returns when (unix ms) to check again, or null. */
  async #closeEndedStreams(): Promise<number | null> {
    if ((await this.ctx.storage.get(checkUntilKey)) === undefined) return null;
    const readAt = Date.now();
    const streams = this.#openStreams();
    if (streams[0] && !(await this.#closeUnlessLive(streams[0].userId)))
      return Date.now() + sessionCheckMs;
    const checkUntil = await this.ctx.storage.get<number>(checkUntilKey);
    if (checkUntil !== undefined && readAt < checkUntil) return checkUntil;
    await this.ctx.storage.delete(checkUntilKey);
    return null;
  }

  async #closeUnlessLive(userId: string): Promise<boolean> {
    try {
      const db = openDatabase(settingsOf(this.env)!, { requests: 0, unreachable: false });
      const live = await liveSessions(db, userId, Date.now());
      for (const { socket, sessionId } of this.#openStreams())
        if (!live.has(sessionId)) socket.close(1000);
      return true;
    } catch {
      return false;
    }
  }

  /** Removes what has expired; returns when (unix ms) to look again, or null if nothing is left. */
  #removeExpired(now: number): number | null {
    const { messages, cleared } = this.#table.removeExpired(now, this.#keptMs());
    const due = [messages && Math.max(messages, now + retentionCheckMs), cleared].filter(
      (each) => each !== null,
    );
    return due.length > 0 ? Math.min(...due) : null;
  }

  #keptMs(): number | null {
    try {
      return settingsOf(this.env)!.CHAT_RETENTION_DAYS * dayMs;
    } catch (error) {
      log('error', 'retention_postponed', describeError(error));
      return null;
    }
  }

  async #planRetention(): Promise<void> {
    if (this.#retentionIsPlanned) return;
    this.#retentionIsPlanned = true;
    await this.#alarmBy(Date.now() + (this.#keptMs() ?? retentionCheckMs));
  }

  async #alarmBy(instant: number): Promise<void> {
    const alarm = await this.ctx.storage.getAlarm();
    if (alarm === null || alarm > instant) await this.ctx.storage.setAlarm(instant);
  }

  #queued(message: StoredMessage): QueuedMessage {
    return { message, sentBefore: this.#table.sentBefore(message.seq) };
  }

  #follow(epoch: number): StaleEpoch | null {
    const { head } = this.#table;
    if (epoch === head.epoch) return null;
    if (epoch < head.epoch) return { outcome: 'behind', epoch: head.epoch };
    const forgottenAt = this.#table.clear(epoch, Date.now());
    if (forgottenAt !== null) this.ctx.waitUntil(this.#alarmBy(forgottenAt));
    this.#send({ kind: 'cleared', revision: this.#table.head.revision, epoch });
    this.#endTyping();
    return null;
  }

  #replay(socket: WebSocket, after: number | null): void {
    const { revision, epoch, clearedRevision } = this.#table.head;
    const reset = after !== null && (after > revision || revision - after > mostReplayedChanges);
    send([socket], { kind: 'joined', epoch, revision, typing: this.#presentTyping(), reset });
    if (after === null || reset) return;
    if (after < clearedRevision)
      send([socket], { kind: 'cleared', revision: clearedRevision, epoch });
    for (const message of this.#table.changedSince(after)) send([socket], changeOf(message, epoch));
  }

  #sendMessage(message: StoredMessage): void {
    this.#send(changeOf(message, this.#table.head.epoch));
  }

  #send(change: ConversationChange): void {
    send(this.ctx.getWebSockets(withConversation), change);
  }

  #presentTyping(): (Typing & { until: number }) | null {
    return this.#typing && this.#typing.until > Date.now() ? this.#typing : null;
  }

  #endTyping(evenIfUnknown = false): void {
    if (!this.#typing && !evenIfUnknown) return;
    this.#typing = null;
    this.#send({ kind: 'typing', until: null, epoch: this.#table.head.epoch, sealed: null });
  }
}

function send(sockets: WebSocket[], change: UsageChange | ConversationChange): void {
  const text = JSON.stringify(change);
  for (const socket of sockets) if (socket.readyState === WebSocket.OPEN) socket.send(text);
}

function changeOf({ sealed, ...rest }: StoredMessage, epoch: number): ConversationChange {
  return {
    kind: 'message',
    revision: rest.revision,
    epoch,
    message: { ...rest, sealed: toBase64(sealed) },
  };
}
