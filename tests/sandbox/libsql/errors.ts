import Database from 'libsql';

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
