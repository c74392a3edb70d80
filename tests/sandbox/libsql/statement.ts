import Database from 'libsql';

/** A value in Hrana's JSON. */
export type WireValue =
  | { type: 'null' }
  | { type: 'integer'; value: string }
  | { type: 'float'; value: number }
  | { type: 'text'; value: string }
  | { type: 'blob'; base64: string };

/** The supported part of Hrana over HTTP: github.com/tursodatabase/libsql, docs/HRANA_2_SPEC.md. */
export type SqlSource = { sql?: string | null; sql_id?: number | null };

export type Statement = SqlSource & {
  args?: WireValue[];
  named_args?: { name: string; value: WireValue }[];
  want_rows?: boolean | null;
};

export type Condition = { type: 'ok'; step: number } | { type: 'not'; cond: Condition };

export type Batch = { steps: { stmt: Statement; condition?: Condition | null }[] };

export type StreamRequest =
  | { type: 'execute'; stmt: Statement }
  | { type: 'batch'; batch: Batch }
  | ({ type: 'sequence' } & SqlSource)
  | { type: 'store_sql'; sql_id: number; sql: string }
  | { type: 'close_sql'; sql_id: number }
  | { type: 'close' };

export type PipelineRequest = { baton?: string | null; requests: StreamRequest[] };

export type Failure = { message: string; code: string };

export type StatementResult = {
  cols: { name: string; decltype: string | null }[];
  rows: WireValue[][];
  affected_row_count: number;
  last_insert_rowid: string | null;
};

export type StreamResult =
  | { type: 'ok'; response: { type: StreamRequest['type']; [field: string]: unknown } }
  | { type: 'error'; error: Failure };

/** Ends the whole request: it is not valid Hrana. */
export class ProtocolError extends Error {
  /** Sent as JSON if it is set, else as plain text. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/** Ends one statement; the response contains its code and message. */
export class StatementError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const unparsable = /syntax error|incomplete input|unrecognized token/;

/** The code and message of libSQL's server for a failed statement; rethrows other errors. */
export function describeError(error: unknown): { message: string; code: string } {
  if (error instanceof StatementError) return { message: error.message, code: error.code };
  if (!(error instanceof Database.SqliteError)) throw error;
  if (error.code === 'SQLITE_ERROR' && unparsable.test(error.message))
    return { message: `SQL string could not be parsed: ${error.message}`, code: 'SQL_PARSE_ERROR' };
  return { message: `SQLite error: ${error.message}`, code: primaryCode(error.code) };
}

export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY';
}

/** The server reports SQLITE_CONSTRAINT_UNIQUE as SQLITE_CONSTRAINT, and SQLITE_ERROR as unknown. */
function primaryCode(code: string): string {
  const primary = code.split('_').slice(0, 2).join('_');
  return primary === 'SQLITE_ERROR' ? 'SQLITE_UNKNOWN' : primary;
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
export function bind(sql: string, { args = [], named_args: named = [] }: Statement): Value[] {
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

export function encodeValue(value: Value): WireValue {
  if (value === null) return { type: 'null' };
  if (typeof value === 'bigint') return { type: 'integer', value: value.toString() };
  if (typeof value === 'number') return { type: 'float', value };
  if (typeof value === 'string') return { type: 'text', value };
  return { type: 'blob', base64: Buffer.from(value).toString('base64').replace(/=+$/, '') };
}
