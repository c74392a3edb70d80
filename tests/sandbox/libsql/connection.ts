import Database from 'libsql';
import * as v from 'valibot';

// The supported part of Hrana over HTTP: github.com/tursodatabase/libsql, docs/HRANA_2_SPEC.md.

const Integer = v.pipe(
  v.string(),
  v.regex(/^-?\d{1,19}$/),
  v.transform((text) => BigInt(text)),
  v.minValue(-(2n ** 63n)),
  v.maxValue(2n ** 63n - 1n),
);
const Base64 = v.pipe(
  v.string(),
  v.transform((text) => Buffer.from(text, 'base64')),
);

/** A value of the engine: bigint is INTEGER, number is REAL. */
type Value = null | bigint | number | string | Uint8Array;
const Value = v.pipe(
  v.variant('type', [
    v.object({ type: v.literal('null') }),
    v.object({ type: v.literal('integer'), value: Integer }),
    v.object({ type: v.literal('float'), value: v.number() }),
    v.object({ type: v.literal('text'), value: v.string() }),
    v.object({ type: v.literal('blob'), base64: Base64 }),
  ]),
  v.transform((wire): Value => {
    if (wire.type === 'null') return null;
    return wire.type === 'blob' ? wire.base64 : wire.value;
  }),
);

function encodeValue(value: Value): object {
  if (value === null) return { type: 'null' };
  if (typeof value === 'bigint')
    return {
      type: 'integer',
      value: value.toString(),
    };
  if (typeof value === 'number') return { type: 'float', value };
  if (typeof value === 'string') return { type: 'text', value };
  return {
    type: 'blob',
    base64: Buffer.from(value).toString('base64').replace(/=+$/, ''),
  };
}

/** The text, or the id of one that is stored on the stream. */
const sqlSource = {
  sql: v.nullish(v.string()),
  sql_id: v.nullish(v.number()),
};
const Statement = v.object({
  ...sqlSource,
  args: v.optional(v.array(Value), []),
  named_args: v.optional(
    v.array(
      v.object({
        name: v.string(),
        value: Value,
      }),
    ),
    [],
  ),
  want_rows: v.nullish(v.boolean(), true),
});
const Ok = v.object({ type: v.literal('ok'), step: v.number() });
const Condition = v.variant('type', [
  Ok,
  v.object({
    type: v.literal('not'),
    cond: Ok,
  }),
]);
const Step = v.object({
  stmt: Statement,
  condition: v.nullish(Condition),
});

export type Statement = v.InferOutput<typeof Statement>;
export type Step = v.InferOutput<typeof Step>;
export type Request = v.InferOutput<typeof Pipeline>['requests'][number];

/** One HTTP request: its requests run in order on one stream. */
export const Pipeline = v.object({
  baton: v.nullish(v.string()),
  requests: v.array(
    v.variant('type', [
      v.object({ type: v.literal('execute'), stmt: Statement }),
      v.object({
        type: v.literal('batch'),
        batch: v.object({ steps: v.array(Step) }),
      }),
      v.object({ type: v.literal('sequence'), ...sqlSource }),
      v.object({
        type: v.literal('store_sql'),
        sql_id: v.number(),
        sql: v.string(),
      }),
      v.object({ type: v.literal('close_sql'), sql_id: v.number() }),
      v.object({ type: v.literal('close') }),
    ]),
  ),
});

const unparsable = /syntax error|incomplete input|unrecognized token/;

/** The code and message of libSQL's server for a failed statement; rethrows other errors. */
export function describeError(error: unknown): {
  message: string;
  code: string;
} {
  if (!(error instanceof Database.SqliteError)) throw error;
  // Those of `refusal` have the server's code already.
  if (!error.code.startsWith('SQLITE_'))
    return {
      message: error.message,
      code: error.code,
    };
  if (error.code === 'SQLITE_ERROR' && unparsable.test(error.message))
    return {
      message: `SQL string could not be parsed: ${error.message}`,
      code: 'SQL_PARSE_ERROR',
    };
  // The server reports SQLITE_CONSTRAINT_UNIQUE as SQLITE_CONSTRAINT, and SQLITE_ERROR as unknown.
  const primary = error.code.split('_').slice(0, 2).join('_');
  return {
    message: `SQLite error: ${error.message}`,
    code: primary === 'SQLITE_ERROR' ? 'SQLITE_UNKNOWN' : primary,
  };
}

/** The bindable indexes of a statement: null for a bare `?` and for a gap. */
type Params = (string | null)[];

const tokens =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\?\d*|[:@$][\w$\u0080-\uffff]+|[\w$\u0080-\uffff]+|[^\s\w]/g;
const comment = /^(?:--|\/\*)/;
const parameter = /^(?:\?|[:@$].)/s;
const trigger = /^\s*create\s+(?:temp\s+|temporary\s+)?trigger\b/i;

/** Ends one statement with this code and message. */
export const refusal = (code: string, message: string) => new Database.SqliteError(message, code);

/** The parameters, by the rules of SQLite's tokenizer: the engine's binding does not provide them. Throws unless `sql` is one statement. */
function parametersOf(sql: string): Params {
  const params: Params = [];
  let statements = 0;
  let open = false;
  for (const [token] of sql.matchAll(tokens)) {
    if (comment.test(token)) continue;
    if (!open && token !== ';') statements += 1;
    open = token !== ';';
    if (parameter.test(token)) declare(params, token);
  }
  if (statements === 0)
    throw refusal('SQL_NO_STATEMENT', 'SQL string does not contain any statement');
  if (statements > 1 && !trigger.test(sql))
    throw refusal('SQL_MANY_STATEMENTS', 'SQL string contains more than one statement');
  return params;
}

function declare(params: Params, token: string): void {
  if (/^\?\d/.test(token)) {
    const index = Math.min(Number(token.slice(1)), 32_766);
    while (params.length < index) params.push(null);
    params[index - 1] = token;
  } else if (token === '?') params.push(null);
  else if (!params.includes(token)) params.push(token);
}

/** The values in the order of their indexes, since the engine's binding crashes the process on unknown names. */
function bind(params: Params, { args, named_args: named }: Statement): Value[] {
  if (args.length > 0 && named.length > 0)
    throw refusal(
      'ARGS_BOTH_POSITIONAL_AND_NAMED',
      'Positional and named arguments cannot stand together',
    );
  if (args.length + named.length > params.length)
    throw refusal('ARGS_INVALID', `too many parameters, expected ${params.length}`);
  const bare = (name: string) => name.replace(/^[:@$?]/, '');
  const byName = new Map(named.map(({ name, value }) => [bare(name), value]));
  return params.map((name, index) => {
    const value = (name === null ? undefined : byName.get(bare(name))) ?? args[index];
    if (value !== undefined) return value;
    throw refusal('ARGS_INVALID', `value for parameter ${name ?? index + 1} not found`);
  });
}

/** Changes of the last statement, changes so far, the last rowid. */
type Counters = { get(): [bigint, bigint, bigint] };
type Outcome = {
  rows: Value[][];
  changes: bigint | number;
  rowid: bigint | number;
};
type Prepared = {
  params: Params;
  cols: object[];
  execute: (values: Value[]) => Outcome;
};

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
    (this.#database as unknown as { defaultSafeIntegers(on: boolean): void }).defaultSafeIntegers(
      true,
    );
    this.#database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON',
    );
    this.#counters = this.#database
      .prepare('SELECT changes(), total_changes(), last_insert_rowid()')
      .raw() as Counters;
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  run(sql: string, statement: Statement) {
    const { params, cols, execute } = this.#prepare(sql);
    const { rows, changes, rowid } = execute(bind(params, statement));
    if (changesSchema.test(sql)) schema += 1;
    if (changesConnection.test(sql)) this.reusable = false;
    return {
      cols,
      rows: statement.want_rows ? rows.map((row) => row.map(encodeValue)) : [],
      affected_row_count: Number(changes),
      last_insert_rowid: changes > 0 ? String(rowid) : null,
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
    const cols = statement.columns().map(({ name, type }) => ({
      name,
      decltype: type,
    }));
    if (!statement.reader)
      return {
        params,
        cols,
        execute: (values) => runOf(statement, values),
      };
    statement.raw();
    return {
      params,
      cols,
      execute: (values) => this.#read(statement, values),
    };
  }

  /** A statement with rows may change some too: one with `returning`. */
  #read(statement: Database.Statement, values: Value[]): Outcome {
    const [, before] = this.#counters.get();
    const rows = statement.all(values) as Value[][];
    const [changes, after, rowid] = this.#counters.get();
    return { rows, changes: after > before ? changes : 0, rowid };
  }
}

function runOf(statement: Database.Statement, values: Value[]): Outcome {
  const { changes, lastInsertRowid: rowid } = statement.run(values);
  return { rows: [], changes, rowid };
}
