import {
  createClient,
  LibsqlError,
  type Client,
  type InArgs,
  type InStatement,
} from '@libsql/client/web';
import type { BatchItem } from 'drizzle-orm/batch';
import { LibSQLDatabase } from 'drizzle-orm/libsql/driver-core';
import { LibSQLSession } from 'drizzle-orm/libsql/session';
import { describeError, log } from './log.ts';
import { memoize } from './memoize.ts';
import { RequestError } from './request-error.ts';
import { FastDialect } from './sql-text.ts';

const timeoutMs = 8000;
const requestsPerClient = 100;

type DatabaseSettings = {
  TURSO_DATABASE_URL: string;
  TURSO_AUTH_TOKEN?: string | undefined;
};

export type Traffic = {
  requests: number;
  unreachable: boolean;
  outcome?: string;
};

export type Database = LibSQLDatabase & {
  $client: Pick<Client, 'batch'>;
  traffic?: Traffic;
};

const dialect = new FastDialect();

/** `batch` is one write transaction. */
export function openDatabase(settings: DatabaseSettings, traffic: Traffic): Database {
  const client = clientOf(settings)();
  const counted = {
    execute: (statement: InStatement) => orUnavailable(client.execute(statement), traffic),
    // One statement is a transaction by itself.
    batch: async (statements: [SqlStatement]) =>
      statements.length === 1
        ? [await orUnavailable(client.execute(statements[0]), traffic)]
        : orUnavailable(client.batch(statements.map(withOwnText), 'write'), traffic),
  };

  const session = new LibSQLSession(counted as never, dialect, undefined, {}, undefined);
  const database: LibSQLDatabase = new LibSQLDatabase(
    'async',
    dialect,
    session as never,
    undefined,
  );
  return Object.assign(database, { $client: counted as never, traffic });
}

type SqlStatement = { sql: string; args: InArgs };

/**
 * The client stores the text of a `string` before it
 * sends the batch, which takes time.
 */
const withOwnText = ({ sql, args }: SqlStatement): SqlStatement => ({
  sql: Object(sql),
  args,
});

type NamedStatements = Record<string, BatchItem<'sqlite'>>;

export async function batch<Statements extends NamedStatements>(
  db: Database,
  statements: Statements,
): Promise<{ [Name in keyof Statements]: Statements[Name]['_']['result'] }> {
  const [first, ...rest] = Object.values(statements);
  const results: unknown[] = await db.batch([first!, ...rest]);
  const named = Object.keys(statements).map((name, index) => [name, results[index]]);
  return Object.fromEntries(named) as {
    [Name in keyof Statements]: Statements[Name]['_']['result'];
  };
}

/** Keeps a client, since making one costs CPU. */
const clientOf = memoize((settings: DatabaseSettings) => {
  let client = connect(settings);
  let requests = 0;
  return () => {
    requests += 1;
    if (requests % requestsPerClient === 0) client = connect(settings);
    return client;
  };
});

function connect({
  TURSO_DATABASE_URL: url,
  TURSO_AUTH_TOKEN: authToken,
}: DatabaseSettings): Client {
  return createClient({
    url,
    ...(authToken && { authToken }),
    concurrency: Infinity,
    fetch: fetchInTime,
  });
}

async function fetchInTime(request: Request): Promise<Response> {
  const response = await fetch(request, { signal: AbortSignal.timeout(timeoutMs) });
  if (response.ok || response.status === 400) return response;
  // 404: the database no longer exists.
  if (response.status < 500 && response.status !== 429)
    log('error', 'database_refused', { status: response.status });
  await response.body?.cancel();
  throw Object.assign(new Error('The database responded with an error'), { code: response.status });
}

/** Throws 503 without a response; errors of our SQL pass. */
async function orUnavailable<T>(work: Promise<T>, traffic: Traffic): Promise<T> {
  traffic.requests += 1;
  try {
    return await work;
  } catch (error) {
    if (error instanceof LibsqlError && isOurs(error)) throw error;
    traffic.unreachable = true;
    logOutage(error);
    throw new RequestError('unavailable');
  }
}

const constraintOrSyntax =
  /^(SQLITE_(CONSTRAINT|ERROR|UNKNOWN|MISMATCH|RANGE|MISUSE|TOOBIG)|SQL_|ARGS_)/;

function isOurs({ code, message }: LibsqlError): boolean {
  return constraintOrSyntax.test(code) && !/database is locked/i.test(message);
}

const reasons: [code: RegExp, reason: string][] = [
  [/^BLOCKED/, 'Turso blocks reads or writes: the plan reached its limit, or a bill is unpaid.'],
  [/^SQLITE_FULL/, 'The disk of the database is full.'],
  [/^SQLITE_READONLY/, 'The database accepts no writes.'],
  [/^SQLITE_NOMEM/, 'The database has no memory left.'],
  [/^SQLITE_(IOERR|CANTOPEN|PERM|AUTH)/, 'The database cannot use its file.'],
  [/^SQLITE_(CORRUPT|NOTADB|FORMAT)/, 'The file of the database is damaged.'],
];

function logOutage(error: unknown): void {
  const code = error instanceof LibsqlError ? error.code : '';
  const [, reason] = reasons.find(([pattern]) => pattern.test(code)) ?? [];
  if (reason) log('error', 'database_refused', { code, reason });
  else log('info', 'database_unavailable', describeError(error));
}
