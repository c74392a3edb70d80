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
export type Value = null | bigint | number | string | Uint8Array;
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

export function encodeValue(value: Value): object {
  if (value === null) return { type: 'null' };
  if (typeof value === 'bigint') return { type: 'integer', value: value.toString() };
  if (typeof value === 'number') return { type: 'float', value };
  if (typeof value === 'string') return { type: 'text', value };
  return { type: 'blob', base64: Buffer.from(value).toString('base64').replace(/=+$/, '') };
}

/** The text, or the id of one that is stored on the stream. */
const sqlSource = { sql: v.nullish(v.string()), sql_id: v.nullish(v.number()) };
const Statement = v.object({
  ...sqlSource,
  args: v.optional(v.array(Value), []),
  named_args: v.optional(v.array(v.object({ name: v.string(), value: Value })), []),
  want_rows: v.nullish(v.boolean(), true),
});
const Ok = v.object({ type: v.literal('ok'), step: v.number() });
const Condition = v.variant('type', [Ok, v.object({ type: v.literal('not'), cond: Ok })]);
const Step = v.object({ stmt: Statement, condition: v.nullish(Condition) });

export type SqlSource = v.InferOutput<v.ObjectSchema<typeof sqlSource, undefined>>;
export type Statement = v.InferOutput<typeof Statement>;
export type Step = v.InferOutput<typeof Step>;
export type Request = v.InferOutput<typeof Pipeline>['requests'][number];

/** One HTTP request: its requests run in order on one stream. */
export const Pipeline = v.object({
  baton: v.nullish(v.string()),
  requests: v.array(
    v.variant('type', [
      v.object({ type: v.literal('execute'), stmt: Statement }),
      v.object({ type: v.literal('batch'), batch: v.object({ steps: v.array(Step) }) }),
      v.object({ type: v.literal('sequence'), ...sqlSource }),
      v.object({ type: v.literal('store_sql'), sql_id: v.number(), sql: v.string() }),
      v.object({ type: v.literal('close_sql'), sql_id: v.number() }),
      v.object({ type: v.literal('close') }),
    ]),
  ),
});

const unparsable = /syntax error|incomplete input|unrecognized token/;

/** The code and message of libSQL's server for a failed statement; rethrows other errors. */
export function describeError(error: unknown): { message: string; code: string } {
  if (!(error instanceof Database.SqliteError)) throw error;
  // Those of `statement.ts` have the server's code already.
  if (!error.code.startsWith('SQLITE_')) return { message: error.message, code: error.code };
  if (error.code === 'SQLITE_ERROR' && unparsable.test(error.message))
    return { message: `SQL string could not be parsed: ${error.message}`, code: 'SQL_PARSE_ERROR' };
  // The server reports SQLITE_CONSTRAINT_UNIQUE as SQLITE_CONSTRAINT, and SQLITE_ERROR as unknown.
  const primary = error.code.split('_').slice(0, 2).join('_');
  return { message: `SQLite error: ${error.message}`, code: primary === 'SQLITE_ERROR' ? 'SQLITE_UNKNOWN' : primary };
}
