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
