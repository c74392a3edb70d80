import {
  bind,
  encodeValue,
  describeError,
  isBusy,
  ProtocolError,
  type Batch,
  type Condition,
  type Failure,
  type SqlSource,
  type Statement,
  type StatementResult,
} from './statement.ts';
import type { Stream } from './connection.ts';

/** Runs one statement; waits while another connection writes. */
export async function execute(stream: Stream, statement: Statement): Promise<StatementResult> {
  const sql = sqlOf(stream, statement);
  const values = bind(sql, statement);
  const result = await withRetries(stream, () => stream.connection.run(sql, values));
  return {
    cols: result.columns,
    rows: statement.want_rows === false ? [] : result.rows.map((row) => row.map(encodeValue)),
    affected_row_count: result.affected,
    last_insert_rowid: result.lastInsertRowid?.toString() ?? null,
  };
}

export async function sequence(stream: Stream, source: SqlSource): Promise<void> {
  const sql = sqlOf(stream, source);
  await withRetries(stream, () => stream.connection.exec(sql));
}

/** Runs the steps whose conditions hold; each has a result, an error or neither. */
export async function batch(stream: Stream, { steps }: Batch) {
  const results: (StatementResult | null)[] = [];
  const errors: (Failure | null)[] = [];
  for (const { stmt, condition } of steps) {
    const wanted = !condition || holds(condition, results);
    const outcome = wanted ? await attempt(stream, stmt) : {};
    results.push(outcome.result ?? null);
    errors.push(outcome.error ?? null);
  }
  return { step_results: results, step_errors: errors };
}

async function attempt(stream: Stream, statement: Statement): Promise<{ result?: StatementResult; error?: Failure }> {
  try {
    return { result: await execute(stream, statement) };
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    return { error: describeError(error) };
  }
}

function holds(condition: Condition, results: (StatementResult | null)[]): boolean {
  if (condition.type === 'ok') return Boolean(results[condition.step]);
  if (condition.type === 'not') return !holds(condition.cond, results);
  throw new ProtocolError('Cannot deserialize client message from JSON');
}

/** The text, or the one stored on the stream under its id. */
function sqlOf(stream: Stream, { sql, sql_id: id }: SqlSource): string {
  if (typeof sql === 'string') return sql;
  const stored = typeof id === 'number' ? stream.texts.get(id) : undefined;
  if (stored === undefined) throw new ProtocolError(`SQL text ${id} not found`);
  return stored;
}

/** A busy statement has changed nothing, so it is retried until it succeeds or the wait times out. */
async function withRetries<T>(stream: Stream, work: () => T): Promise<T> {
  const { connection, lock, patienceMs } = stream;
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const alreadyOpen = connection.inTransaction;
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      if (!alreadyOpen) connection.rollback();
    }
    await lock.wait(20);
  }
}
