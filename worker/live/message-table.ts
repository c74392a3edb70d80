import type { MessageState, MessageAuthor } from '../contract/chat-schemas.ts';
import { dayMs } from '../lib/time.ts';

type Head = { epoch: number; revision: number; seq: number; clearedRevision: number };

const empty: Head = { epoch: 0, revision: 0, seq: 0, clearedRevision: 0 };
/** As long as the outbox tries to deliver a message to the bot. */
const repliesWithinMs = dayMs;
const columns = 'seq, id, author, at, state, revision, sealed';

/** Counters follow from the newest rows: a written row costs as much as a thousand read ones. */
export class MessageTable {
  readonly #sql: SqlStorage;
  readonly #recordings: RecordingTable;
  #head: Head | undefined;
  #known: boolean | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#recordings = new RecordingTable(sql);
  }

  /** Looked up on first use: an object of a user without a conversation is woken for each change of usage. */
  get #exists(): boolean {
    this.#known ??=
      this.#sql.exec("select 1 from sqlite_master where name = 'messages'").toArray().length > 0;
    return this.#known;
  }

  get head(): Readonly<Head> {
    this.#head ??= this.#exists ? this.#readHead() : { ...empty };
    return this.#head;
  }

  find(id: string): StoredMessage | undefined {
    return this.#select('where id = ?', id)[0];
  }

  /** The newest messages before `before`, oldest first, and whether there are more. */
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
   * What a new message follows, read at once: in three statements a message takes 5 % longer (2026-11-25, tests/bench).
   * A reply, which has no `count`, needs only to be new: looking for messages of the user would read the whole table.
   */
  before(id: string, count: number | undefined): Before {
    if (!this.#exists || count === undefined)
      return { known: this.find(id) ? 1 : 0, at: null, sentBefore: null };
    const query = `select exists (select 1 from messages where id = ?) as known,
      (select at from messages where author = 'user' order by seq desc limit 1 offset ?) as at,
      (select id from messages where author = 'user' and state = 'sent' order by seq limit 1) as sentBefore`;
    return this.#sql.exec<Before>(query, id, count - 1).one();
  }

  sentBefore(seq: number): string | null {
    const query =
      "select id from messages where seq < ? and author = 'user' and state = 'sent' order by seq limit 1";
    return this.#sql.exec<{ id: string }>(query, seq).toArray()[0]?.id ?? null;
  }

  insert({ id, author, sealed, recording }: NewStoredMessage, at: number): StoredMessage {
    this.#create();
    const head = this.#next();
    head.seq += 1;
    // Clients show the state of the user's messages alone.
    const state: MessageState = author === 'user' ? 'sent' : 'delivered';
    const { seq, revision } = head;
    this.#sql.exec(
      `insert into messages (${columns}) values (?, ?, ?, ?, ?, ?, ?)`,
      seq,
      id,
      author,
      at,
      state,
      revision,
      sealed,
    );
    if (recording) this.#recordings.insert(seq, recording);
    return { seq, id, author, at, state, revision, sealed };
  }

  recordingOf({ seq }: StoredMessage): ArrayBuffer | null {
    return this.#recordings.read(seq);
  }

  setContent(message: StoredMessage, sealed: ArrayBuffer): StoredMessage {
    const { revision } = this.#next();
    this.#sql.exec(
      'update messages set sealed = ?, revision = ? where seq = ?',
      sealed,
      revision,
      message.seq,
    );
    return { ...message, sealed, revision };
  }

  /** Replaces the ciphertext by one that shows the same, so no stream needs to know. */
  replaceSealed({ seq }: StoredMessage, sealed: ArrayBuffer): void {
    this.#sql.exec('update messages set sealed = ? where seq = ?', sealed, seq);
  }

  setState(message: StoredMessage, state: MessageState): StoredMessage {
    const { revision } = this.#next();
    this.#sql.exec(
      'update messages set state = ?, revision = ? where seq = ?',
      state,
      revision,
      message.seq,
    );
    return { ...message, state, revision };
  }

  /** Begins a new epoch; returns when (unix ms) the kept ids of cleared messages expire, or null without any. */
  clear(epoch: number, now: number): number | null {
    this.#create();
    const head = this.#next();
    head.epoch = epoch;
    head.clearedRevision = head.revision;
    this.#createCleared();
    this.#sql.exec('delete from cleared_messages where at < ?', now - repliesWithinMs);
    this.#sql.exec(
      `insert or replace into cleared_messages select id, at from messages where author = 'user' and at >= ?`,
      now - repliesWithinMs,
    );
    this.#sql.exec('delete from messages');
    this.#recordings.removeOrphans();
    this.#writeHead();
    return this.#clearedExpireAt();
  }

  /** Whether the user cleared a message of this id and did not send it again. */
  wasCleared(id: string): boolean {
    if (this.head.clearedRevision === 0 || this.find(id)) return false;
    this.#createCleared();
    return this.#sql.exec('select 1 from cleared_messages where id = ?', id).toArray().length > 0;
  }

  /** Removes old messages and cleared ids; returns when (unix ms) the next ones expire, null if none is left. */
  removeExpired(
    now: number,
    keptMs: number | null,
  ): { messages: number | null; cleared: number | null } {
    if (!this.#exists) return { messages: null, cleared: null };
    this.#createCleared();
    this.#sql.exec('delete from cleared_messages where at <= ?', now - repliesWithinMs);
    if (keptMs !== null) {
      this.#writeHead();
      this.#sql.exec('delete from messages where at <= ?', now - keptMs);
      this.#recordings.removeOrphans();
    }
    const oldest = this.#sql
      .exec<{ at: number }>('select at from messages order by seq limit 1')
      .toArray()[0];
    return {
      messages: oldest ? oldest.at + (keptMs ?? 0) : null,
      cleared: this.#clearedExpireAt(),
    };
  }

  #clearedExpireAt(): number | null {
    const { at } = this.#sql
      .exec<{ at: number | null }>('select max(at) as at from cleared_messages')
      .one();
    return at === null ? null : at + repliesWithinMs;
  }

  reset(): void {
    this.#known = false;
    this.#head = undefined;
    this.#recordings.reset();
  }

  #next(): Head {
    const head = { ...this.head, revision: this.head.revision + 1 };
    this.#head = head;
    return head;
  }

  #select(where: string, ...values: (string | number)[]): StoredMessage[] {
    if (!this.#exists) return [];
    return this.#sql
      .exec<StoredMessage>(`select ${columns} from messages ${where}`, ...values)
      .toArray();
  }

  #readHead(): Head {
    const query = `select coalesce(h.epoch, 0) as epoch, coalesce(h.cleared_revision, 0) as clearedRevision,
      max(coalesce(h.seq, 0), m.seq) as seq, max(coalesce(h.revision, 0), m.revision) as revision
      from (select coalesce(max(seq), 0) as seq, coalesce(max(revision), 0) as revision from messages) m
      left join head h`;
    return this.#sql.exec<Head>(query).one();
  }

  #writeHead(): void {
    const { epoch, revision, seq, clearedRevision } = this.head;
    this.#sql.exec(
      'insert or replace into head values (1, ?, ?, ?, ?)',
      epoch,
      revision,
      seq,
      clearedRevision,
    );
  }

  #createCleared(): void {
    this.#sql.exec(
      'create table if not exists cleared_messages (id text primary key, at integer not null)',
    );
  }

  #create(): void {
    if (this.#exists) return;
    this.#sql
      .exec(`create table messages (seq integer primary key, id text not null unique, author text not null,
      at integer not null, state text not null, revision integer not null, sealed blob not null)`);
    this.#sql
      .exec(`create table head (id integer primary key, epoch integer not null, revision integer not null,
      seq integer not null, cleared_revision integer not null)`);
    this.#known = true;
  }
}

/** A message as the Durable Object keeps it; `at` in unix ms. */
export type StoredMessage = {
  seq: number;
  id: string;
  author: MessageAuthor;
  at: number;
  state: MessageState;
  revision: number;
  sealed: ArrayBuffer;
};

/** What the object has made of a message that its caller knows. */
export type PlacedMessage = Omit<StoredMessage, 'sealed'>;

export type NewStoredMessage = {
  id: string;
  author: MessageAuthor;
  sealed: ArrayBuffer;
  recording?: ArrayBuffer | undefined;
  /** Unix ms: stored later, the message might not be delivered, since its caller may have given up. */
  notAfter: number;
  perMinute?: number;
  /** The message that a reply answers; a reply to one that the user cleared is not stored. */
  replyTo?: string | undefined;
};

/** `at` is the arrival (unix ms) of the user's message number `count` from the newest; `sentBefore` as in `QueuedMessage`. */
type Before = { known: number; at: number | null; sentBefore: string | null };

/** `behind` means that the conversation was cleared after the caller read its epoch; `epoch` is the present one. */
export type StaleEpoch = { outcome: 'behind'; epoch: number };

/** A message of the user, and the id of the first one before it that is still `sent`. */
export type QueuedMessage = { message: StoredMessage; sentBefore: string | null };

export type Appended =
  /** `watched`: whether a page of the user is open. */
  | { outcome: 'stored'; watched: boolean; message: PlacedMessage; sentBefore: string | null }
  | ({ outcome: 'known' } & QueuedMessage)
  | { outcome: 'limited'; allowedAt: number }
  | { outcome: 'late' }
  | { outcome: 'cleared' }
  | StaleEpoch;

export type StoredPage = {
  outcome: 'read';
  revision: number;
  messages: StoredMessage[];
  hasMore: boolean;
  typingUntil: number | null;
};

/** The ciphertext of the recordings of one conversation, beside its messages and in the same transactions. */
export class RecordingTable {
  readonly #sql: SqlStorage;
  #known: boolean | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Most conversations have no recording, and therefore no table. */
  get #exists(): boolean {
    this.#known ??=
      this.#sql.exec("select 1 from sqlite_master where name = 'recordings'").toArray().length > 0;
    return this.#known;
  }

  /** Stores the recording of a message. A row holds 2 MB, which is more than the API accepts. */
  insert(seq: number, sealed: ArrayBuffer): void {
    if (!this.#exists)
      this.#sql.exec('create table recordings (seq integer primary key, sealed blob not null)');
    this.#known = true;
    this.#sql.exec('insert into recordings values (?, ?)', seq, sealed);
  }

  read(seq: number): ArrayBuffer | null {
    if (!this.#exists) return null;
    const [row] = this.#sql
      .exec<{ sealed: ArrayBuffer }>('select sealed from recordings where seq = ?', seq)
      .toArray();
    return row?.sealed ?? null;
  }

  removeOrphans(): void {
    if (this.#exists)
      this.#sql.exec('delete from recordings where seq not in (select seq from messages)');
  }

  reset(): void {
    this.#known = false;
  }
}
