import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { EventEmitter, once } from 'node:events';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import * as v from 'valibot';
import Database from 'libsql';
import type { Refusal } from '../fault-injection.ts';
import { jsonError } from '../stripe/control.ts';
import {
  Pipeline,
  Connection,
  describeError,
  refusal as errorOf,
  type Request,
  type Statement,
  type Step,
} from './connection.ts';

/** A libSQL server: the real engine on a file, with what its client sends of the Hrana protocol over HTTP, version 2. */
export function createLibsql({
  file,
  authToken,
  idleMs = 5000,
}: {
  file: string;
  authToken: string;
  idleMs?: number;
}) {
  mkdirSync(dirname(file), { recursive: true });
  const streams = createStreams(file, idleMs);
  const app = new Hono();

  app.use(async (c, next) => {
    if (c.req.header('authorization') === `Bearer ${authToken}`) return next();
    return c.json({ error: 'Authentication failed: The JWT is invalid' }, 401);
  });
  app.get('/v2', (c) => c.body(null, 200));
  app.post('/v2/pipeline', async (c) => {
    const { success, output } = v.safeParse(Pipeline, readJson(await c.req.text()));
    if (!success)
      throw new HTTPException(400, { message: 'Cannot deserialize client message from JSON' });
    return c.json(await pipeline(streams, output, c.get('refusal')));
  });
  return { app, close: () => streams.close() };
}

/** As the server reads it, which takes no half of a surrogate pair: it has no UTF-8 form. */
function readJson(text: string): unknown {
  const mayHaveHalves = /\\ud[89a-f]/i.test(text);
  const refuseHalves = (_: string, value: unknown) => {
    if (typeof value === 'string' && /\p{Surrogate}/u.test(value)) throw new SyntaxError('half');
    return value;
  };
  try {
    return JSON.parse(text, mayHaveHalves ? refuseHalves : undefined);
  } catch {
    return undefined;
  }
}

/** Runs the requests in order on one stream, which stays open under a baton unless closed. */
async function pipeline(
  streams: Streams,
  { baton, requests }: v.InferOutput<typeof Pipeline>,
  refusal: Refusal | undefined,
) {
  const stream = baton ? streams.resume(baton) : streams.open();
  if (!stream)
    throw jsonError(400, {
      message: 'The stream has expired due to inactivity',
      code: 'STREAM_EXPIRED',
    });
  stream.refusal = refusal;
  let closed = true;
  try {
    const results: object[] = [];
    for (const request of requests) results.push(await stream.respond(request));
    closed = requests.some(({ type }) => type === 'close');
    return {
      baton: closed ? null : streams.keep(stream),
      base_url: null,
      results,
    };
  } finally {
    if (closed) streams.end(stream);
  }
}

/** The maximum wait (ms) of a writer for another one. */
const patienceMs = 8000;

type Stream = ReturnType<typeof openStream>;

/** The stream of one client: its own connection, and the SQL texts stored on it. `lock` is that of `createStreams`. */
function openStream(connection: Connection, lock: EventEmitter) {
  const texts = new Map<number, string>();

  function sqlOf({ sql, sql_id: id }: Pick<Statement, 'sql' | 'sql_id'>): string {
    const found = sql ?? texts.get(id ?? -1);
    if (found === undefined) throw new HTTPException(400, { message: `SQL text ${id} not found` });
    return found;
  }

  async function execute(statement: Statement): Promise<object> {
    const sql = sqlOf(statement);
    if (stream.refusal) refuse(stream.refusal, sql);
    return retry(() => connection.run(sql, statement));
  }

  /** Runs the steps whose conditions hold; each has a result, an error or neither. */
  async function batch(steps: Step[]): Promise<object> {
    const results: (object | null)[] = [];
    const errors: (object | null)[] = [];
    for (const { stmt, condition } of steps) {
      const outcome = holds(condition, results) ? await outcomeOf(() => execute(stmt)) : null;
      results.push(outcome?.result ?? null);
      errors.push(outcome?.error ?? null);
    }
    return { step_results: results, step_errors: errors };
  }

  /** A busy statement has changed nothing, so it is retried until it succeeds or the wait times out. */
  async function retry<T>(work: () => T): Promise<T> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const alreadyOpen = connection.inTransaction;
      try {
        return work();
      } catch (error) {
        const isBusy = error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY';
        if (!isBusy || performance.now() > deadline) throw error;
        if (!alreadyOpen) connection.rollback();
      }
      // Another process may hold the lock, so the wait ends without an event, too.
      await once(lock, 'released', { signal: AbortSignal.timeout(20) }).catch(() => undefined);
    }
  }

  async function perform(request: Request): Promise<object> {
    if (request.type === 'execute') return { result: await execute(request.stmt) };
    if (request.type === 'batch') return { result: await batch(request.batch.steps) };
    if (request.type === 'store_sql') texts.set(request.sql_id, request.sql);
    if (request.type === 'close_sql') texts.delete(request.sql_id);
    if (request.type === 'sequence') {
      const sql = sqlOf(request);
      await retry(() => connection.exec(sql));
    }
    return {};
  }

  const stream = {
    connection,
    refusal: undefined as Refusal | undefined,
    async respond(request: Request): Promise<object> {
      const { result, error } = await outcomeOf(() => perform(request));
      return error
        ? { type: 'error', error }
        : { type: 'ok', response: { type: request.type, ...result } };
    },
  };
  return stream;
}

const isWrite = /^\s*(?:insert|update|delete|replace|create|alter|drop)\b/i;

/** Turso's text of a plan whose limit is reached; SQLite's own errors have theirs. */
function refuse({ code, writesOnly }: Refusal, sql: string): void {
  if (writesOnly && !isWrite.test(sql)) return;
  const blocked =
    'Operation was blocked: SQL write operations are forbidden (writes are blocked, do you need to upgrade your plan?)';
  throw errorOf(code, code === 'BLOCKED' ? blocked : `SQLite error: ${code}`);
}

/** The result or the error of work, as the server reports it. */
async function outcomeOf(
  work: () => Promise<object>,
): Promise<{ result?: object; error?: object }> {
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

type Streams = ReturnType<typeof createStreams>;

/** Opens streams on a file, keeps the idle ones for their next request, and rolls them back after `idleMs` without one. */
function createStreams(file: string, idleMs: number) {
  /** Emits `released` when a connection that may have held the write lock has ended: SQLite has one writer at a time. */
  const lock = new EventEmitter().setMaxListeners(0);
  const spare: Connection[] = [];
  const waiting = new Map<
    string,
    {
      stream: Stream;
      timer: NodeJS.Timeout;
    }
  >();

  /** The idle stream of this baton, which is valid once. */
  function resume(baton: string): Stream | undefined {
    const found = waiting.get(baton);
    clearTimeout(found?.timer);
    waiting.delete(baton);
    return found?.stream;
  }

  function end({ connection }: Stream): void {
    connection.rollback();
    if (connection.reusable && spare.length < 8) spare.push(connection);
    else connection.close();
    lock.emit('released');
  }

  return {
    open: () => openStream(spare.pop() ?? new Connection(file), lock),
    resume,
    end,
    /** Keeps the stream for another request and returns its baton. */
    keep(stream: Stream): string {
      const baton = crypto.randomUUID();
      const timer = setTimeout(() => end(resume(baton) ?? stream), idleMs);
      waiting.set(baton, { stream, timer });
      if (!stream.connection.inTransaction) lock.emit('released');
      return baton;
    },
    close(): void {
      for (const baton of waiting.keys()) end(resume(baton)!);
      for (const connection of spare.splice(0)) connection.close();
    },
  };
}
