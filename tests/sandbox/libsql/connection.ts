import Database from 'libsql';
import { encodeValue, type Statement, type Value } from './hrana.ts';
import { bind, parametersOf, type Params } from './statement.ts';

/** Changes of the last statement, changes so far, the last rowid. */
type Counters = { get(): [bigint, bigint, bigint] };
type Prepared = { params: Params; cols: object[]; all: (values: Value[]) => Value[][] };

const changesSchema = /^\s*(?:create|alter|drop|pragma|attach|detach|reindex|vacuum)\b/i;
/** Also for `explain`, which the engine's binding leaves open: its connection would keep an old snapshot. */
const changesConnection = /^\s*(?:pragma|attach|detach|create\s+temp|explain)/i;

/** Counts schema changes by any connection: statements prepared earlier may miss a column. */
let schema = 0;

/**
 * One connection of the engine, with its prepared statements. Every operation is synchronous and fails at once if the
 * database is locked.
 */
export class Connection {
  /** False if its settings may differ from a new connection's. */
  reusable = true;
  readonly #database: Database.Database;
  readonly #prepared = new Map<string, Prepared>();
  readonly #counters: Counters;
  #schema = schema;

  constructor(file: string) {
    this.#database = new Database(file, { timeout: 0 });
    (this.#database as unknown as { defaultSafeIntegers(on: boolean): void }).defaultSafeIntegers(true);
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON');
    this.#counters = this.#database.prepare('SELECT changes(), total_changes(), last_insert_rowid()').raw() as Counters;
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  run(sql: string, statement: Statement) {
    const { params, cols, all } = this.#prepare(sql);
    const values = bind(params, statement);
    const [, before] = this.#counters.get();
    const rows = all(values);
    const [changes, after, rowid] = this.#counters.get();
    if (changesSchema.test(sql)) schema += 1;
    if (changesConnection.test(sql)) this.reusable = false;
    const wrote = after > before;
    return {
      cols,
      rows: statement.want_rows ? rows.map((row) => row.map(encodeValue)) : [],
      affected_row_count: wrote ? Number(changes) : 0,
      last_insert_rowid: wrote ? String(rowid) : null,
    };
  }

  /** Runs any number of statements and returns no rows. */
  exec(sql: string): void {
    schema += 1;
    if (/\b(?:pragma|attach|temp)/i.test(sql)) this.reusable = false;
    this.#database.exec(sql);
  }

  rollback(): void {
    if (this.inTransaction) this.#database.exec('ROLLBACK');
  }

  close(): void {
    this.#database.close();
  }

  #prepare(sql: string): Prepared {
    if (this.#prepared.size >= 500) this.#prepared.clear();
    if (this.#schema !== schema) {
      this.#prepared.clear();
      // The connection reads another one's change of the schema when it runs a statement, not when it prepares one.
      this.#database.exec('SELECT 1 FROM sqlite_schema');
      this.#schema = schema;
    }
    const prepared = this.#prepared.get(sql) ?? this.#compile(sql);
    this.#prepared.set(sql, prepared);
    return prepared;
  }

  #compile(sql: string): Prepared {
    const params = parametersOf(sql);
    const statement = this.#database.prepare(sql);
    const cols = statement.columns().map(({ name, type }) => ({ name, decltype: type }));
    if (!statement.reader) return { params, cols, all: (values) => (statement.run(values), []) };
    statement.raw();
    return { params, cols, all: (values) => statement.all(values) as Value[][] };
  }
}
