import { mostReplayedChanges } from '../contract/chat-limits.ts';
import type { MessageState } from '../contract/chat-schemas.ts';
import { minuteMs } from '../lib/time.ts';
import { ConversationTables } from './conversation-tables.ts';
import { MessageHead, type Head } from './message-head.ts';
import type { MessageToStore, StoredMessage } from './stored-message.ts';

const columns = 'seq, id, author, at, state, revision, sealed';

/** `at` in unix ms: of the message number `count` from the newest. */
type Before = {
  knownSeq: number | null;
  at: number | null;
  sentBefore: string | null;
};

/**
 * The messages of one conversation, their recordings, and when those of
 * the last minute came that were cleared: clearing renews no limit.
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

  page(
    before: number | undefined,
    limit: number,
  ): {
    messages: StoredMessage[];
    hasMore: boolean;
  } {
    const rows = this.#select(
      'where seq < ? order by seq desc limit ?',
      before ?? Number.MAX_SAFE_INTEGER,
      limit + 1,
    );
    return {
      messages: rows.slice(0, limit).toReversed(),
      hasMore: rows.length > limit,
    };
  }

  changedSince(revision: number): StoredMessage[] {
    return this.#select('where revision > ? order by revision', revision);
  }

  /** One statement: three take longer. */
  before(ids: string[], count: number): Before {
    if (!this.#tables.exist)
      return {
        knownSeq: null,
        at: null,
        sentBefore: null,
      };
    const query = `select
      (select seq from messages where id in (select value from json_each(?))) as knownSeq,
      (select at from (
        select * from
          (select seq, at from messages where author = 'user' order by seq desc limit ?)
        union all select seq, at from cleared_times
      ) order by seq desc limit 1 offset ?) as at,
      (select id from messages where author = 'user' and state = 'sent'
        order by seq limit 1) as sentBefore`;
    return this.#sql.exec<Before>(query, JSON.stringify(ids), count, count - 1).one();
  }

  sentBefore(seq: number): string | null {
    const query = `select id from messages where seq < ? and author = 'user' and state = 'sent'
      order by seq limit 1`;
    return this.#sql.exec<{ id: string }>(query, seq).toArray()[0]?.id ?? null;
  }

  insert({ id, author, sealed, recording }: MessageToStore, at: number): StoredMessage {
    this.#tables.create();
    const { seq, revision } = this.#head.advance({ seq: this.head.seq + 1 });
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

  /** Since `since` (unix ms). */
  recordedSince(since: number): { bytes: number; oldestAt: number | null } {
    if (!this.#tables.exist) return { bytes: 0, oldestAt: null };
    const query = `select coalesce(sum(length(recordings.sealed)), 0) as bytes, min(at) as oldestAt
      from messages join recordings on recordings.seq = messages.seq
      where author = 'user' and at > ?`;
    return this.#sql
      .exec<{
        bytes: number;
        oldestAt: number | null;
      }>(query, since)
      .one();
  }

  setContent(message: StoredMessage, sealed: ArrayBuffer): StoredMessage {
    const { revision } = this.#head.advance();
    const query = 'update messages set sealed = ?, revision = ? where seq = ?';
    this.#sql.exec(query, sealed, revision, message.seq);
    return { ...message, sealed, revision };
  }

  replaceSealed({ seq }: StoredMessage, sealed: ArrayBuffer): void {
    this.#sql.exec('update messages set sealed = ? where seq = ?', sealed, seq);
  }

  setState(message: StoredMessage, state: MessageState): StoredMessage {
    const { revision } = this.#head.advance();
    const query = 'update messages set state = ?, revision = ? where seq = ?';
    this.#sql.exec(query, state, revision, message.seq);
    return { ...message, state, revision };
  }

  clear(epoch: number, now: number): void {
    this.#tables.create();
    const { revision } = this.head;
    this.#head.advance({ epoch, clearedRevision: revision + 1 });
    this.#head.store();

    const lastMinute = now - minuteMs;
    this.#removeTimes(lastMinute);
    this.#sql.exec(
      `insert or replace into cleared_times (seq, at)
        select seq, at from messages where author = 'user' and at > ?`,
      lastMinute,
    );
    this.#sql.exec('delete from messages');
    this.#sql.exec('delete from recordings');
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

  removeExpired(now: number, keptMs: number | null): boolean {
    if (!this.#tables.exist) return false;
    this.#removeTimes(now - minuteMs);
    if (keptMs !== null) this.#removeOlder(now - keptMs);
    return this.#oldestAt() !== null;
  }

  #removeTimes(until: number): void {
    this.#sql.exec('delete from cleared_times where at <= ?', until);
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
