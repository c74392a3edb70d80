import Database from 'libsql';

/** A value in Hrana's JSON. */
export type WireValue =
  | { type: 'null' }
  | { type: 'integer'; value: string }
  | { type: 'float'; value: number }
  | { type: 'text'; value: string }
  | { type: 'blob'; base64: string };

/** The supported part of Hrana over HTTP: github.com/tursodatabase/libsql, docs/HRANA_3_SPEC.md. */
export type SqlSource = { sql?: string | null; sql_id?: number | null };

export type Statement = SqlSource & {
  args?: WireValue[];
  named_args?: { name: string; value: WireValue }[];
  want_rows?: boolean | null;
};

export type Condition =
  | { type: 'ok' | 'error'; step: number }
  | { type: 'not'; cond: Condition }
  | { type: 'and' | 'or'; conds: Condition[] }
  | { type: 'is_autocommit' };

export type Batch = { steps: { stmt: Statement; condition?: Condition | null }[] };

export type StreamRequest =
  | { type: 'execute'; stmt: Statement }
  | { type: 'batch'; batch: Batch }
  | ({ type: 'sequence' | 'describe' } & SqlSource)
  | { type: 'store_sql'; sql_id: number; sql: string }
  | { type: 'close_sql'; sql_id: number }
  | { type: 'get_autocommit' | 'close' };

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
