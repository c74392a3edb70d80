import Database from 'libsql';

/** Ends the whole request: what was sent is not Hrana. */
export class ProtocolError extends Error {
  /** Told as JSON when there is one, else as plain text. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/** Ends one statement: the caller reads its code and message in the answer. */
export class StatementError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const unparsable = /syntax error|incomplete input|unrecognized token/;

/** The code and sentence that libSQL's server gives for a failed statement; anything else is thrown on. */
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

/** The server tells SQLITE_CONSTRAINT_UNIQUE as SQLITE_CONSTRAINT, and SQLITE_ERROR as unknown. */
function primaryCode(code: string): string {
  const primary = code.split('_').slice(0, 2).join('_');
  return primary === 'SQLITE_ERROR' ? 'SQLITE_UNKNOWN' : primary;
}
