import Database from 'libsql';
import { analyze, type Value, StatementError } from './statement.ts';

type Column = { name: string; decltype: string | null };
/** Changes of the last statement, changes so far, the last rowid. */
type Counters = { get(): [bigint, bigint, bigint] };
type Prepared = { all(values: Value[]): Value[][]; columns: Column[] };
export type Result = { columns: Column[]; rows: Value[][]; affected: number; lastInsertRowid: bigint | null };

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
  /** The total of changes, as long as only `run` made any. */
  #changes: bigint | undefined;
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

  run(sql: string, values: Value[]): Result {
    const statement = this.prepare(sql);
    const before = this.#changes ?? this.#counters.get()[1];
    this.#changes = undefined;
    const rows = statement.all(values);
    const [changes, after, rowid] = this.#counters.get();
    this.#changes = after;
    this.#noteEffects(sql);
    const wrote = after > before;
    return {
      columns: statement.columns,
      rows,
      affected: wrote ? Number(changes) : 0,
      lastInsertRowid: wrote ? rowid : null,
    };
  }

  /** Runs any number of statements and returns no rows. */
  exec(sql: string): void {
    schema += 1;
    if (/\b(?:pragma|attach|temp)/i.test(sql)) this.reusable = false;
    this.#changes = undefined;
    this.#database.exec(sql);
  }

  prepare(sql: string): Prepared {
    this.#dropStaleStatements();
    const cached = this.#prepared.get(sql);
    if (cached) return cached;
    const { statements } = analyze(sql);
    if (statements === 0) throw new StatementError('SQL_NO_STATEMENT', 'SQL string does not contain any statement');
    if (statements > 1) throw new StatementError('SQL_MANY_STATEMENTS', 'SQL string contains more than one statement');
    const prepared = this.#compile(sql);
    if (this.#prepared.size >= 500) this.#prepared.clear();
    this.#prepared.set(sql, prepared);
    return prepared;
  }

  rollback(): void {
    if (this.inTransaction) this.#database.exec('ROLLBACK');
  }

  close(): void {
    this.#database.close();
  }

  #compile(sql: string): Prepared {
    const statement = this.#database.prepare(sql);
    const columns = statement.columns().map(({ name, type }) => ({ name, decltype: type }));
    if (!statement.reader) return { columns, all: (values) => (statement.run(values), []) };
    statement.raw();
    return { columns, all: (values) => statement.all(values) as Value[][] };
  }

  #noteEffects(sql: string): void {
    if (changesSchema.test(sql)) schema += 1;
    if (changesConnection.test(sql)) this.reusable = false;
  }

  #dropStaleStatements(): void {
    if (this.#schema === schema) return;
    this.#prepared.clear();
    this.#schema = schema;
  }
}

/** The queue of writers: SQLite lets one connection write at a time. */
export class WriteLock {
  #waiting: (() => void)[] = [];

  /** Resolves all waits in their order, since a connection that may have held the lock has ended. */
  released(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** Resolves at the next release, or after `ms`, since another process may hold the lock. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** The stream of one client: its own connection, and the SQL texts stored on it. */
export type Stream = {
  connection: Connection;
  texts: Map<number, string>;
  lock: WriteLock;
  /** The maximum wait (ms) of a writer for another one. */
  patienceMs: number;
};

export type StreamSettings = {
  file: string;
  patienceMs?: number;
  /** The time (ms) without a request after which a stream is rolled back. */
  idleMs?: number;
};

/** Opens streams, keeps the idle ones for their next request, and closes those that time out. */
export class Streams {
  readonly #settings: Required<StreamSettings>;
  readonly #lock = new WriteLock();
  readonly #spare: Connection[] = [];
  readonly #waiting = new Map<string, { stream: Stream; timer: NodeJS.Timeout }>();

  constructor({ file, patienceMs = 8000, idleMs = 5000 }: StreamSettings) {
    this.#settings = { file, patienceMs, idleMs };
  }

  open(): Stream {
    const connection = this.#spare.pop() ?? new Connection(this.#settings.file);
    return { connection, texts: new Map(), lock: this.#lock, patienceMs: this.#settings.patienceMs };
  }

  /** The idle stream of this baton, which is valid once. */
  resume(baton: string): Stream | undefined {
    const found = this.#waiting.get(baton);
    if (!found) return undefined;
    clearTimeout(found.timer);
    this.#waiting.delete(baton);
    return found.stream;
  }

  /** Keeps the stream for another request and returns its baton. */
  keep(stream: Stream): string {
    const baton = crypto.randomUUID();
    const timer = setTimeout(() => this.end(this.resume(baton) ?? stream), this.#settings.idleMs);
    this.#waiting.set(baton, { stream, timer });
    if (!stream.connection.inTransaction) this.#lock.released();
    return baton;
  }

  end({ connection }: Stream): void {
    connection.rollback();
    if (connection.reusable && this.#spare.length < 8) this.#spare.push(connection);
    else connection.close();
    this.#lock.released();
  }

  close(): void {
    for (const baton of this.#waiting.keys()) {
      const stream = this.resume(baton);
      if (stream) this.end(stream);
    }
    for (const connection of this.#spare.splice(0)) connection.close();
  }
}
