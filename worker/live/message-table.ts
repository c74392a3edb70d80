import { mostReplayedChanges } from '../contract/chat-limits.ts';
import type { MessageState } from '../contract/chat-schemas.ts';
import { dayMs } from '../lib/time.ts';
import { ConversationTables } from './conversation-tables.ts';
import { MessageHead, type Head } from './message-head.ts';
import type { NewStoredMessage, StoredMessage } from './stored-message.ts';

/** As long as the outbox tries to deliver a message to the bot. */
const repliesWithinMs = dayMs;
const columns = 'seq, id, author, at, state, revision, sealed';

/**
 * `at` is the arrival (unix ms) of the user's message number
 * `count` from the newest; `sentBefore` as in `QueuedMessage`.
 */
type Before = { knownSeq: number | null; at: number | null; sentBefore: string | null };

/** What is left; `cleared` is when (unix ms) the next of the cleared ids expires, or null. */
type Left = { hasMessages: boolean; cleared: number | null };

/**
 * The messages of one conversation, their recordings,
 * and the ids of those that were cleared lately.
 */
export class MessageTable {
  readonly #sql: SqlStorage;
  readonly #tables: ConversationTables;
  readonly #head: MessageHead;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#tables = new ConversationTables(sql);
    this.#head = new MessageHead(sql, this.#tables);
  }

  get head(): Readonly<Head> {
    return this.#head.value;
  }

  find(...ids: string[]): StoredMessage | undefined {
    return this.#select('where id in (select value from json_each(?))', JSON.stringify(ids))[0];
  }

  /**
   * The newest messages before `before`,
   * oldest first, and whether there are more.
   */
  page(before: number | undefined, limit: number): { messages: StoredMessage[]; hasMore: boolean } {
    const rows = this.#select(
      'where seq < ? order by seq desc limit ?',
      before ?? Number.MAX_SAFE_INTEGER,
      limit + 1,
    );
    return { messages: rows.slice(0, limit).toReversed(), hasMore: rows.length > limit };
  }

  changedSince(revision: number): StoredMessage[] {
    return this.#select('where revision > ? order by revision', revision);
  }

  /**
   * What a new message of the user follows, read at once: in three
   * statements it takes 5 % longer (2026-11-25, tests/bench).
   */
  before(ids: string[], count: number): Before {
    if (!this.#tables.exist) return { knownSeq: null, at: null, sentBefore: null };
    const query = `select
      (select seq from messages where id in (select value from json_each(?))) as knownSeq,
      (select at from messages where author = 'user' order by seq desc limit 1 offset ?) as at,
      (select id from messages where author = 'user' and state = 'sent'
        order by seq limit 1) as sentBefore`;
    return this.#sql.exec<Before>(query, JSON.stringify(ids), count - 1).one();
  }

  sentBefore(seq: number): string | null {
    const query = `select id from messages where seq < ? and author = 'user' and state = 'sent'
      order by seq limit 1`;
    return this.#sql.exec<{ id: string }>(query, seq).toArray()[0]?.id ?? null;
  }

  insert({ id, author, sealed, recording }: NewStoredMessage, at: number): StoredMessage {
    this.#tables.create();
    const { seq, revision } = this.#head.advance({ seq: this.head.seq + 1 });
    // Clients show the state of the user's messages alone.
    const state: MessageState = author === 'user' ? 'sent' : 'delivered';

    const values = [seq, id, author, at, state, revision, sealed];
    this.#sql.exec(`insert into messages (${columns}) values (?, ?, ?, ?, ?, ?, ?)`, ...values);
    // A row holds 2 MB, which is more than the API accepts.
    if (recording)
      this.#sql.exec('insert into recordings (seq, sealed) values (?, ?)', seq, recording);
    return { seq, id, author, at, state, revision, sealed };
  }

  recordingOf({ seq }: StoredMessage): ArrayBuffer | null {
    const query = 'select sealed from recordings where seq = ?';
    const [row] = this.#sql.exec<{ sealed: ArrayBuffer }>(query, seq).toArray();
    return row?.sealed ?? null;
  }

  /**
   * The bytes of the person's recordings since
   * `since` (unix ms), and the arrival of the oldest.
   */
  recordedSince(since: number): { bytes: number; oldestAt: number | null } {
    if (!this.#tables.exist) return { bytes: 0, oldestAt: null };
    const query = `select coalesce(sum(length(recordings.sealed)), 0) as bytes, min(at) as oldestAt
      from messages join recordings on recordings.seq = messages.seq
      where author = 'user' and at > ?`;
    return this.#sql.exec<{ bytes: number; oldestAt: number | null }>(query, since).one();
  }

  setContent(message: StoredMessage, sealed: ArrayBuffer): StoredMessage {
    const { revision } = this.#head.advance();
    const query = 'update messages set sealed = ?, revision = ? where seq = ?';
    this.#sql.exec(query, sealed, revision, message.seq);
    return { ...message, sealed, revision };
  }

  /**
   * Replaces the ciphertext by one that shows
   * the same, so no stream needs to know.
   */
  replaceSealed({ seq }: StoredMessage, sealed: ArrayBuffer): void {
    this.#sql.exec('update messages set sealed = ? where seq = ?', sealed, seq);
  }

  setState(message: StoredMessage, state: MessageState): StoredMessage {
    const { revision } = this.#head.advance();
    const query = 'update messages set state = ?, revision = ? where seq = ?';
    this.#sql.exec(query, state, revision, message.seq);
    return { ...message, state, revision };
  }

  /**
   * Begins a new epoch; returns when (unix ms) the kept
   * ids of cleared messages expire, or null without any.
   */
  clear(epoch: number, now: number): number | null {
    this.#tables.create();
    const { revision } = this.head;
    this.#head.advance({ epoch, clearedRevision: revision + 1 });
    this.#head.store();

    const since = now - repliesWithinMs;
    this.#sql.exec('delete from cleared_messages where at < ?', since);
    this.#sql.exec(
      `insert or replace into cleared_messages (id, at)
        select id, at from messages where author = 'user' and at >= ?`,
      since,
    );
    this.#sql.exec('delete from messages');
    this.#sql.exec('delete from recordings');
    return this.#clearedExpireAt();
  }

  /**
   * Begins a new epoch with what was written until
   * `until` (unix ms); every page then reads anew.
   */
  cut(epoch: number, until: number): void {
    this.#tables.create();
    const { revision } = this.head;
    this.#head.advance({ epoch, revision: revision + mostReplayedChanges + 1 });
    this.#head.store();
    this.#sql.exec('delete from messages where at > ?', until);
    this.#sql.exec('delete from recordings where seq not in (select seq from messages)');
  }

  /**
   * Whether the user cleared a message of this id and did not send it again.
   */
  wasCleared(id: string): boolean {
    if (this.head.clearedRevision === 0 || this.find(id)) return false;
    const query = 'select 1 from cleared_messages where id = ?';
    return this.#sql.exec(query, id).toArray().length > 0;
  }

  /**
   * Removes messages older than `keptMs`, unless it is
   * null, and cleared ids that no reply can name any more.
   */
  removeExpired(now: number, keptMs: number | null): Left {
    if (!this.#tables.exist) return { hasMessages: false, cleared: null };
    this.#sql.exec('delete from cleared_messages where at <= ?', now - repliesWithinMs);
    if (keptMs !== null) this.#removeOlder(now - keptMs);

    return { hasMessages: this.#oldestAt() !== null, cleared: this.#clearedExpireAt() };
  }

  #removeOlder(until: number): void {
    const oldest = this.#oldestAt();
    if (oldest === null || oldest > until) return;
    this.#head.store();
    this.#sql.exec('delete from messages where at <= ?', until);
    this.#sql.exec('delete from recordings where seq not in (select seq from messages)');
  }

  #oldestAt(): number | null {
    const query = 'select at from messages order by seq limit 1';
    return this.#sql.exec<{ at: number }>(query).toArray()[0]?.at ?? null;
  }

  #clearedExpireAt(): number | null {
    const query = 'select max(at) as at from cleared_messages';
    const { at } = this.#sql.exec<{ at: number | null }>(query).one();
    return at === null ? null : at + repliesWithinMs;
  }

  /** After all storage was deleted. */
  reset(): void {
    this.#tables.reset();
    this.#head.reset();
  }

  #select(where: string, ...values: (string | number)[]): StoredMessage[] {
    if (!this.#tables.exist) return [];
    const query = `select ${columns} from messages ${where}`;
    return this.#sql.exec<StoredMessage>(query, ...values).toArray();
  }
}
