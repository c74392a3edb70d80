/**
 * The tables of one conversation. All are created when its first
 * message is stored, or when it is first cleared: an object without
 * a conversation, which a change of usage wakes, stores nothing.
 *
 * drizzle's migrations were considered (2026-11-28) and do not fit: its
 * migrator creates a table of its own and writes a row for each migration
 * in every object that it opens, and the schema would stand here and there.
 */
const tables = [
  `create table messages (
    seq integer primary key,
    id text not null unique,
    author text not null,
    at integer not null,
    state text not null,
    revision integer not null,
    sealed blob not null
  )`,
  `create table head (
    id integer primary key,
    epoch integer not null,
    revision integer not null,
    seq integer not null,
    cleared_revision integer not null
  )`,
  `create table cleared_times (
    seq integer primary key,
    at integer not null
  )`,
  `create table recordings (
    seq integer primary key,
    sealed blob not null
  )`,
];

export class ConversationTables {
  readonly #sql: SqlStorage;
  #exist: boolean | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  get exist(): boolean {
    this.#exist ??= this.#find();
    return this.#exist;
  }

  create(): void {
    if (this.exist) return;
    for (const table of tables) this.#sql.exec(table);
    this.#exist = true;
  }

  reset(): void {
    this.#exist = false;
  }

  #find(): boolean {
    const found = this.#sql.exec("select 1 from sqlite_master where name = 'messages'");
    return found.toArray().length > 0;
  }
}
