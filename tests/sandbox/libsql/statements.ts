import {
  describeError,
  isBusy,
  ProtocolError,
  type Batch,
  type Condition,
  type Failure,
  type SqlSource,
  type Statement,
  type StatementResult,
  StatementError,
} from './protocol.ts';
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
    const wanted = !condition || holds(condition, results, errors, stream);
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

function holds(
  condition: Condition,
  results: (StatementResult | null)[],
  errors: (Failure | null)[],
  stream: Stream,
): boolean {
  const inner = (each: Condition) => holds(each, results, errors, stream);
  if (condition.type === 'ok') return Boolean(results[condition.step]);
  if (condition.type === 'error') return Boolean(errors[condition.step]);
  if (condition.type === 'not') return !inner(condition.cond);
  if (condition.type === 'and') return condition.conds.every(inner);
  if (condition.type === 'or') return condition.conds.some(inner);
  if (condition.type === 'is_autocommit') return !stream.connection.inTransaction;
  throw new ProtocolError('Cannot deserialize client message from JSON');
}

/** The text, or the one stored on the stream under its id. */
export function sqlOf(stream: Stream, { sql, sql_id: id }: SqlSource): string {
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

/** The facts about an SQL text that the engine's Node binding does not provide. */
export type Analysis = {
  /** One entry for each bindable index; null for a bare `?` and for a gap. */
  params: (string | null)[];
  /** The number of statements, without empty ones. */
  statements: number;
};

const tokens =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\?\d*|[:@$][\w$\u0080-\uffff]+|[\w$\u0080-\uffff]+|[^\s\w]/g;
const comment = /^(?:--|\/\*)/;
const parameter = /^(?:\?|[:@$].)/s;
const trigger = /^\s*create\s+(?:temp\s+|temporary\s+)?trigger\b/i;

const known = new Map<string, Analysis>();

/** Finds parameters and statements by the rules of SQLite's tokenizer. */
export function analyze(sql: string): Analysis {
  const seen = known.get(sql);
  if (seen) return seen;
  if (known.size >= 2000) known.clear();
  const analysis = scan(sql);
  known.set(sql, analysis);
  return analysis;
}

function scan(sql: string): Analysis {
  const params: (string | null)[] = [];
  let statements = 0;
  let open = false;
  for (const [token] of sql.matchAll(tokens)) {
    if (comment.test(token)) continue;
    if (!open && token !== ';') statements += 1;
    open = token !== ';';
    if (parameter.test(token)) declare(params, token);
  }
  return { params, statements: trigger.test(sql) ? 1 : statements };
}

function declare(params: (string | null)[], token: string): void {
  if (token === '?') params.push(null);
  else if (token.startsWith('?')) declareNumbered(params, token);
  else if (!params.includes(token)) params.push(token);
}

function declareNumbered(params: (string | null)[], token: string): void {
  const index = Math.min(Number(token.slice(1)), 32_766);
  while (params.length < index) params.push(null);
  params[index - 1] = token;
}

/** The values in the order of their indexes, since the engine's binding crashes the process on unknown names. */
function bind(sql: string, { args = [], named_args: named = [] }: Statement): Value[] {
  const { params } = analyze(sql);
  if (args.length > 0 && named.length > 0)
    throw new StatementError('ARGS_BOTH_POSITIONAL_AND_NAMED', 'Positional and named arguments cannot stand together');
  if (args.length + named.length > params.length)
    throw new StatementError('ARGS_INVALID', `too many parameters, expected ${params.length}`);
  const byName = new Map(named.map(({ name, value }) => [bare(name), value]));
  return params.map((name, index) => decodeValue(find(name, index, args, byName)));
}

function find(name: string | null, index: number, args: WireValue[], byName: Map<string, WireValue>): WireValue {
  const value = (name === null ? undefined : byName.get(bare(name))) ?? args[index];
  if (value === undefined)
    throw new StatementError('ARGS_INVALID', `value for parameter ${name ?? index + 1} not found`);
  return value;
}

function bare(name: string): string {
  return name.replace(/^[:@$?]/, '');
}

/** A value of the engine: bigint is INTEGER, number is REAL. */
export type Value = null | bigint | number | string | Uint8Array;

/** A value in Hrana's JSON. */
export type WireValue =
  | { type: 'null' }
  | { type: 'integer'; value: string }
  | { type: 'float'; value: number }
  | { type: 'text'; value: string }
  | { type: 'blob'; base64: string };

const least = -(2n ** 63n);
const most = 2n ** 63n - 1n;

/** Refuses a value that the type does not allow, as the server does. */
function decodeValue(wire: WireValue): Value {
  if (wire.type === 'null') return null;
  if (wire.type === 'integer' && typeof wire.value === 'string') return decodeInteger(wire.value);
  if (wire.type === 'float' && typeof wire.value === 'number') return wire.value;
  if (wire.type === 'text' && typeof wire.value === 'string') return wire.value;
  if (wire.type === 'blob' && typeof wire.base64 === 'string') return Buffer.from(wire.base64, 'base64');
  throw new ProtocolError('Cannot deserialize client message from JSON');
}

function decodeInteger(text: string): bigint {
  const value = /^-?\d{1,19}$/.test(text) ? BigInt(text) : most + 1n;
  if (value < least || value > most) throw new ProtocolError('Cannot deserialize client message from JSON');
  return value;
}

function encodeValue(value: Value): WireValue {
  if (value === null) return { type: 'null' };
  if (typeof value === 'bigint') return { type: 'integer', value: value.toString() };
  if (typeof value === 'number') return { type: 'float', value };
  if (typeof value === 'string') return { type: 'text', value };
  return { type: 'blob', base64: Buffer.from(value).toString('base64').replace(/=+$/, '') };
}
