import { createClient, LibsqlError, type Row } from '@libsql/client/web';
import { requireTargetSettings, type Target, type Values } from '../owner-command.ts';

export type Reader = (query: string) => Promise<Row[]>;

/** Throws in words of its own, never in those of the library. */
export function openReader(target: Target, values: Values): Reader {
  requireTargetSettings(target, values, ['TURSO_DATABASE_URL', 'TURSO_AUTH_TOKEN']);
  const { TURSO_DATABASE_URL: url = '', TURSO_AUTH_TOKEN: authToken = '' } = values;
  const client = createClient({ url, authToken });

  return async (query) => {
    // Only a read query is valid as a subquery.
    const asked = client.execute(`select * from (${query}\n)`);
    const { rows } = await asked.catch((error: unknown) => {
      throw isRefusal(error) ? refusalOf(error) : silence(url, error);
    });
    return rows;
  };
}

const isRefusal = (error: unknown): error is LibsqlError =>
  error instanceof LibsqlError && error.code.startsWith('SQL');

const codes = /^(?:[A-Z_]+|SQLite error|SQL string could not be parsed): /;

function refusalOf({ message }: LibsqlError): Error {
  const reason = message.replace(codes, '').replace(codes, '');
  return new Error(`The database does not understand this query: ${reason}.`);
}

function silence(url: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(`${url} does not answer: ${reason}.`);
}
