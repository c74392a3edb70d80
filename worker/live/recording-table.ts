/** The ciphertext of the recordings of one conversation, beside its messages and in the same transactions. */
export class RecordingTable {
  readonly #sql: SqlStorage;
  #known: boolean | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Most conversations have no recording, and therefore no table. */
  get #exists(): boolean {
    this.#known ??= this.#sql.exec("select 1 from sqlite_master where name = 'recordings'").toArray().length > 0;
    return this.#known;
  }

  /** Stores the recording of a message. A row holds 2 MB, which is more than the API accepts. */
  insert(seq: number, sealed: ArrayBuffer): void {
    if (!this.#exists) this.#sql.exec('create table recordings (seq integer primary key, sealed blob not null)');
    this.#known = true;
    this.#sql.exec('insert into recordings values (?, ?)', seq, sealed);
  }

  read(seq: number): ArrayBuffer | null {
    if (!this.#exists) return null;
    const [row] = this.#sql.exec<{ sealed: ArrayBuffer }>('select sealed from recordings where seq = ?', seq).toArray();
    return row?.sealed ?? null;
  }

  removeOrphans(): void {
    if (this.#exists) this.#sql.exec('delete from recordings where seq not in (select seq from messages)');
  }

  reset(): void {
    this.#known = false;
  }
}
