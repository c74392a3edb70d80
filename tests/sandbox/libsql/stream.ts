import { EventEmitter, once } from 'node:events';
import Database from 'libsql';
import { HTTPException } from 'hono/http-exception';
import { Connection } from './connection.ts';
import { describeError, type Request, type SqlSource, type Statement, type Step } from './hrana.ts';

export type StreamSettings = {
  file: string;
  /** The time (ms) without a request after which a stream is rolled back. */
  idleMs?: number;
};

/** The maximum wait (ms) of a writer for another one. */
const patienceMs = 8000;

/** The stream of one client: its own connection, and the SQL texts stored on it. */
class Stream {
  readonly connection: Connection;
  readonly #texts = new Map<number, string>();
  readonly #lock: EventEmitter;

  constructor(connection: Connection, lock: EventEmitter) {
    this.connection = connection;
    this.#lock = lock;
  }

  async respond(request: Request): Promise<object> {
    const { result, error } = await outcomeOf(() => this.#perform(request));
    return error ? { type: 'error', error } : { type: 'ok', response: { type: request.type, ...result } };
  }

  async #perform(request: Request): Promise<object> {
    if (request.type === 'execute') return { result: await this.#execute(request.stmt) };
    if (request.type === 'batch') return { result: await this.#batch(request.batch.steps) };
    if (request.type === 'store_sql') this.#texts.set(request.sql_id, request.sql);
    if (request.type === 'close_sql') this.#texts.delete(request.sql_id);
    if (request.type === 'sequence') {
      const sql = this.#sqlOf(request);
      await this.#retry(() => this.connection.exec(sql));
    }
    return {};
  }

  async #execute(statement: Statement): Promise<object> {
    const sql = this.#sqlOf(statement);
    return this.#retry(() => this.connection.run(sql, statement));
  }

  /** Runs the steps whose conditions hold; each has a result, an error or neither. */
  async #batch(steps: Step[]): Promise<object> {
    const results: (object | null)[] = [];
    const errors: (object | null)[] = [];
    for (const { stmt, condition } of steps) {
      const outcome = holds(condition, results) ? await outcomeOf(() => this.#execute(stmt)) : null;
      results.push(outcome?.result ?? null);
      errors.push(outcome?.error ?? null);
    }
    return { step_results: results, step_errors: errors };
  }

  #sqlOf({ sql, sql_id: id }: SqlSource): string {
    const found = sql ?? this.#texts.get(id ?? -1);
    if (found === undefined) throw new HTTPException(400, { message: `SQL text ${id} not found` });
    return found;
  }

  /** A busy statement has changed nothing, so it is retried until it succeeds or the wait times out. */
  async #retry<T>(work: () => T): Promise<T> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const alreadyOpen = this.connection.inTransaction;
      try {
        return work();
      } catch (error) {
        const isBusy = error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY';
        if (!isBusy || performance.now() > deadline) throw error;
        if (!alreadyOpen) this.connection.rollback();
      }
      // Another process may hold the lock, so the wait ends without an event, too.
      await once(this.#lock, 'released', { signal: AbortSignal.timeout(20) }).catch(() => undefined);
    }
  }
}

/** The result or the error of work, as the server reports it. */
async function outcomeOf(work: () => Promise<object>): Promise<{ result?: object; error?: object }> {
  try {
    return { result: await work() };
  } catch (error) {
    return { error: describeError(error) };
  }
}

function holds(condition: Step['condition'], results: (object | null)[]): boolean {
  if (!condition) return true;
  return condition.type === 'ok' ? Boolean(results[condition.step]) : !results[condition.cond.step];
}

/** Opens streams, keeps the idle ones for their next request, and closes those that time out. */
export class Streams {
  readonly #settings: Required<StreamSettings>;
  /** Emits `released` when a connection that may have held the write lock has ended: SQLite has one writer at a time. */
  readonly #lock = new EventEmitter().setMaxListeners(0);
  readonly #spare: Connection[] = [];
  readonly #waiting = new Map<string, { stream: Stream; timer: NodeJS.Timeout }>();

  constructor({ file, idleMs = 5000 }: StreamSettings) {
    this.#settings = { file, idleMs };
  }

  open(): Stream {
    const connection = this.#spare.pop() ?? new Connection(this.#settings.file);
    return new Stream(connection, this.#lock);
  }

  /** The idle stream of this baton, which is valid once. */
  resume(baton: string): Stream | undefined {
    const found = this.#waiting.get(baton);
    clearTimeout(found?.timer);
    this.#waiting.delete(baton);
    return found?.stream;
  }

  /** Keeps the stream for another request and returns its baton. */
  keep(stream: Stream): string {
    const baton = crypto.randomUUID();
    const timer = setTimeout(() => this.end(this.resume(baton) ?? stream), this.#settings.idleMs);
    this.#waiting.set(baton, { stream, timer });
    if (!stream.connection.inTransaction) this.#lock.emit('released');
    return baton;
  }

  end({ connection }: Stream): void {
    connection.rollback();
    if (connection.reusable && this.#spare.length < 8) this.#spare.push(connection);
    else connection.close();
    this.#lock.emit('released');
  }

  close(): void {
    for (const baton of this.#waiting.keys()) this.end(this.resume(baton)!);
    for (const connection of this.#spare.splice(0)) connection.close();
  }
}
