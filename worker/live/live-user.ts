import { DurableObject } from 'cloudflare:workers';
import * as v from 'valibot';
import { mostReplayedChanges } from '../contract/chat-limits.ts';
import { MessageId, type MessageState } from '../contract/chat-schemas.ts';
import type { SessionRef } from '../identity/user-session.ts';
import { toBase64 } from '../lib/crypto.ts';
import { describeError, log } from '../lib/log.ts';
import { dayMs, minuteMs } from '../lib/time.ts';
import { settingsOf } from '../settings.ts';
import { checkMs, EndedSessions } from './ended-sessions.ts';
import { isRestoreOf, restoredAt } from './epoch.ts';
import type { ConversationChange, Typing, UsageChange } from './live-changes.ts';
import { MessageTable } from './message-table.ts';
import { NamedAlarms } from './named-alarms.ts';
import { admit, attachSession, closeStreams, isOpen, openStreams } from './open-streams.ts';
import type {
  AppendedMessage,
  AppendedReply,
  KnownMessage,
  MessageToStore,
  NewReply,
  NewUserMessage,
  QueuedMessage,
  Refused,
  StaleEpoch,
  Stored,
  StoredMessage,
  StoredPage,
} from './stored-message.ts';

const withConversation = 'conversation';
/**
 * Daily while there are messages, so that fewer days in
 * `CHAT_RETENTION_DAYS` take effect within one, and not more
 * often, since each alarm writes rows: messages stay up to a
 * day longer than the setting.
 */
const retentionCheckMs = dayMs;

/**
 * The live object of one user: its streams (open-streams.ts) and its
 * messages (message-table.ts). Every call about messages names the
 * epoch of its caller: a greater one means that the conversation was
 * cleared, a smaller one that the caller has not learned it.
 */
export class LiveUser extends DurableObject<object> {
  readonly #table: MessageTable;
  readonly #endedSessions: EndedSessions;
  readonly #alarms: NamedAlarms;
  #typing: (Typing & { until: number }) | null = null;

  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env);
    this.#table = new MessageTable(ctx.storage.sql);
    this.#endedSessions = new EndedSessions(ctx.storage, env, () =>
      openStreams(ctx.getWebSockets()),
    );
    this.#alarms = new NamedAlarms(ctx.storage, {
      retention: {
        run: (now) => this.#removeExpired(now),
        againMs: dayMs,
        failed: 'retention_postponed',
      },
      endedSessions: {
        run: () => this.#endedSessions.check(),
        againMs: checkMs,
        failed: 'background_failed',
      },
    });
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair('ping', 'pong'));
  }

  override async alarm(): Promise<void> {
    await this.#alarms.ring(Date.now());
  }

  /** Of usage and, unless the query has `usage`, of the conversation. */
  override fetch(request: Request): Response {
    const { searchParams } = new URL(request.url);
    const { 0: theirs, 1: ours } = new WebSocketPair();
    const session = {
      userId: searchParams.get('user') ?? '',
      sessionId: searchParams.get('session') ?? '',
    };

    if (searchParams.has('usage')) {
      this.ctx.acceptWebSocket(ours);
    } else {
      const after = searchParams.get('after');
      this.ctx.acceptWebSocket(ours, [withConversation]);
      this.#replay(ours, after === null ? null : Number(after));
    }
    attachSession(ours, session);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  publish(changes: UsageChange[]): void {
    const sockets = this.ctx.getWebSockets();
    for (const change of changes) send(sockets, change);
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    if (typeof message !== 'string') return;
    const session: SessionRef = JSON.parse(message);
    admit(socket, session, () => this.ctx.getWebSockets());
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  endStreams(sessionId: string | null): void {
    closeStreams(this.ctx.getWebSockets(), sessionId);
  }

  async expectEnd(): Promise<void> {
    if (this.ctx.getWebSockets().length === 0) return;
    await this.#alarms.ringBy(await this.#endedSessions.expect(Date.now()));
  }

  appendUserMessage(epoch: number, message: NewUserMessage): Promise<AppendedMessage> {
    return this.#append(epoch, message, (now) => this.#storeLimited(message, now));
  }

  appendReply(epoch: number, reply: NewReply): Promise<AppendedReply> {
    return this.#append(epoch, reply, (now) => this.#storeReply(reply, now));
  }

  async #append<Outcome extends { outcome: string }>(
    epoch: number,
    { notAfter }: MessageToStore,
    store: (now: number) => Outcome,
  ): Promise<Outcome | Refused> {
    const now = Date.now();
    if (now > notAfter) return { outcome: 'late' };
    const behind = this.#follow(epoch);
    if (behind) return behind;

    const appended = store(now);
    if (appended.outcome === 'stored') await this.#planRetention();
    return appended;
  }

  #storeLimited(message: NewUserMessage, now: number) {
    const ids = [message.id, ...(message.others ?? [])];
    const { knownSeq, at, sentBefore } = this.#table.before(ids, message.perMinute);
    if (knownSeq !== null) return this.#known(ids);

    const allowedAt = (at ?? 0) + minuteMs;
    if (allowedAt > now) return { outcome: 'limited' as const, allowedAt };
    const fitsAt = this.#fitsAt(message, now);
    if (fitsAt > now) return { outcome: 'limited' as const, allowedAt: fitsAt };

    return this.#store(message, now, sentBefore);
  }

  /** In unix ms; 0 if the recording fits now. */
  #fitsAt({ recording, recordedBytesPerDay }: NewUserMessage, now: number): number {
    if (!recording || recordedBytesPerDay === undefined) return 0;
    const { bytes, oldestAt } = this.#table.recordedSince(now - dayMs);
    if (bytes + recording.byteLength <= recordedBytesPerDay) return 0;
    return (oldestAt ?? now) + dayMs;
  }

  #storeReply(reply: NewReply, now: number) {
    const ids = [reply.id, ...(reply.others ?? [])];
    if (this.#table.find(...ids)) return this.#known(ids);
    if (this.#repliesToUnknown(reply)) return { outcome: 'cleared' as const };

    const stored = this.#store(reply, now, null);
    this.#endTyping();
    return stored;
  }

  #repliesToUnknown({ replyTo }: NewReply): boolean {
    return replyTo !== undefined && v.is(MessageId, replyTo) && !this.#table.find(replyTo);
  }

  #known(ids: string[]): KnownMessage {
    return { outcome: 'known', ...this.#queued(this.#table.find(...ids)!) };
  }

  #store(message: MessageToStore, now: number, sentBefore: string | null): Stored {
    const stored = this.#table.insert(message, now);
    this.#sendMessage(stored);
    const { sealed: _, ...place } = stored;
    return {
      outcome: 'stored',
      watched: this.#isWatched(),
      message: place,
      sentBefore,
    };
  }

  find(epoch: number, ...ids: string[]): StoredMessage | null {
    if (epoch !== this.#table.head.epoch) return null;
    return this.#table.find(...ids) ?? null;
  }

  readRecording(
    epoch: number,
    ...ids: string[]
  ): { message: StoredMessage; sealed: ArrayBuffer } | null {
    const message = this.find(epoch, ...ids);
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
    return {
      outcome: 'read',
      revision: this.#table.head.revision,
      ...this.#table.page(before, limit),
      typingUntil: this.#presentTyping()?.until ?? null,
    };
  }

  /** Null for an unknown message, or too late. */
  changeState(
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
    this.#sendState(message.state, moved);
    return moved;
  }

  replaceContent(epoch: number, id: string, sealed: ArrayBuffer): boolean {
    const message = this.find(epoch, id);
    if (message) this.#sendMessage(this.#table.setContent(message, sealed));
    return message !== null;
  }

  reseal(
    { epoch, id }: { epoch: number; id: string },
    before: ArrayBuffer,
    sealed: ArrayBuffer,
  ): boolean {
    const message = this.find(epoch, id);
    if (!message || toBase64(message.sealed) !== toBase64(before)) return false;
    this.#table.replaceSealed(message, sealed);
    return true;
  }

  /** No storage ever holds the text so far. */
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
  }

  #isWatched(): boolean {
    return this.ctx.getWebSockets().some(isOpen);
  }

  #queued(message: StoredMessage): QueuedMessage {
    return { message, sentBefore: this.#table.sentBefore(message.seq) };
  }

  #follow(epoch: number): StaleEpoch | null {
    const { head } = this.#table;
    if (epoch === head.epoch) return null;
    if (epoch < head.epoch) return { outcome: 'behind', epoch: head.epoch };
    if (isRestoreOf(epoch, head.epoch)) return this.#cut(epoch);

    this.#table.clear(epoch, Date.now());
    this.#send({
      kind: 'cleared',
      revision: this.#table.head.revision,
      epoch,
    });
    this.#endTyping();
    return null;
  }

  #cut(epoch: number): null {
    this.#table.cut(epoch, restoredAt(epoch));
    const { revision } = this.#table.head;
    this.#send({
      kind: 'joined',
      epoch,
      revision,
      typing: null,
      reset: true,
    });
    this.#endTyping();
    return null;
  }

  #removeExpired(now: number): number | null {
    return this.#table.removeExpired(now, this.#keptMs()) ? now + retentionCheckMs : null;
  }

  async #planRetention(): Promise<void> {
    await this.#alarms.ringBy(Date.now() + retentionCheckMs);
  }

  /** Null if the setting is wrong. */
  #keptMs(): number | null {
    try {
      return settingsOf(this.env)!.require('CHAT_RETENTION_DAYS') * dayMs;
    } catch (error) {
      log('error', 'retention_postponed', describeError(error));
      return null;
    }
  }

  #replay(socket: WebSocket, after: number | null): void {
    const { revision, epoch, clearedRevision } = this.#table.head;
    const reset = after !== null && (after > revision || revision - after > mostReplayedChanges);
    send([socket], {
      kind: 'joined',
      epoch,
      revision,
      typing: this.#presentTyping(),
      reset,
    });
    if (after === null || reset) return;

    if (after < clearedRevision)
      send([socket], {
        kind: 'cleared',
        revision: clearedRevision,
        epoch,
      });
    for (const message of this.#table.changedSince(after)) send([socket], changeOf(message, epoch));
  }

  #sendState(before: MessageState, moved: StoredMessage): void {
    const { seq, revision, state } = moved;
    const isAlone = before !== 'sent' || this.#table.sentBefore(seq) !== null;
    if (state === 'sent' || isAlone) return this.#sendMessage(moved);
    this.#send({
      kind: 'state',
      revision,
      upTo: seq,
      state,
    });
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
    this.#send({
      kind: 'typing',
      until: null,
      epoch: this.#table.head.epoch,
      sealed: null,
    });
  }
}

function send(sockets: WebSocket[], change: UsageChange | ConversationChange): void {
  const text = JSON.stringify(change);
  for (const socket of sockets) if (isOpen(socket)) socket.send(text);
}

function changeOf({ sealed, ...rest }: StoredMessage, epoch: number): ConversationChange {
  return {
    kind: 'message',
    revision: rest.revision,
    epoch,
    message: { ...rest, sealed: toBase64(sealed) },
  };
}
