import type { ConversationTables } from './conversation-tables.ts';

export type Head = {
  epoch: number;
  revision: number;
  seq: number;
  clearedRevision: number;
};

const empty: Head = {
  epoch: 0,
  revision: 0,
  seq: 0,
  clearedRevision: 0,
};

/**
 * The counters of a conversation. They follow from the newest rows, and
 * are stored only before rows are deleted. Stored each time, they would
 * cost three rows more for a message and its reply: 1.6 G a month with
 * ten million users, about $1,560 (prices in worker/docs/cost.md). A
 * written row costs as much as a thousand read ones.
 */
export class MessageHead {
  readonly #sql: SqlStorage;
  readonly #tables: ConversationTables;
  #head: Head | undefined;

  constructor(sql: SqlStorage, tables: ConversationTables) {
    this.#sql = sql;
    this.#tables = tables;
  }

  get value(): Readonly<Head> {
    this.#head ??= this.#tables.exist ? this.#read() : { ...empty };
    return this.#head;
  }

  advance(more: Partial<Head> = {}): Head {
    const { revision } = this.value;
    this.#head = { ...this.value, revision: revision + 1, ...more };
    return this.#head;
  }

  /** Call it before rows are deleted. */
  store(): void {
    const { epoch, revision, seq, clearedRevision } = this.value;
    this.#sql.exec(
      `insert or replace into head (id, epoch, revision, seq, cleared_revision)
        values (1, ?, ?, ?, ?)`,
      epoch,
      revision,
      seq,
      clearedRevision,
    );
  }

  reset(): void {
    this.#head = undefined;
  }

  #read(): Head {
    const query = `select
        coalesce(stored.epoch, 0) as epoch,
        coalesce(stored.cleared_revision, 0) as clearedRevision,
        max(coalesce(stored.seq, 0), newest.seq) as seq,
        max(coalesce(stored.revision, 0), newest.revision) as revision
      from (
        select coalesce(max(seq), 0) as seq, coalesce(max(revision), 0) as revision from messages
      ) newest
      left join head stored`;
    return this.#sql.exec<Head>(query).one();
  }
}
