import { createClient, LibsqlError, type Client, type InStatement } from '@libsql/client/web';
import type { LibSQLDatabase } from 'drizzle-orm/libsql';
import { drizzle } from 'drizzle-orm/libsql/web';
import { oncePer } from './once-per.ts';
import { Problem } from './problem.ts';
import type { Settings } from './settings.ts';

const timeoutMs = 8000;
const requestsPerClient = 100;

/** What one request cost at the database. */
export type Traffic = { requests: number; unreachable: boolean };

export type Database = LibSQLDatabase & { $client: Pick<Client, 'batch'> };

/** The database of one request. `batch` is one write transaction in one round trip. */
export function openDatabase(settings: Settings, traffic: Traffic): Database {
  const client = clientOf(settings)();
  return drizzle({
    client: {
      execute: (statement: InStatement) => inTime(client.execute(statement), traffic),
      // One statement is a transaction by itself.
      batch: async (statements: [InStatement]) =>
        statements.length === 1
          ? [await inTime(client.execute(statements[0]), traffic)]
          : inTime(client.batch(statements, 'write'), traffic),
    } as never,
  });
}

/**
 * Making a client costs part of a call, so requests share one. It lets nobody wait for another, and as a request that
 * its caller has given up leaves its stream in it, a new one follows from time to time.
 */
const clientOf = oncePer((settings: Settings) => {
  let client = connect(settings);
  let requests = 0;
  return () => {
    requests += 1;
    if (requests % requestsPerClient === 0) client = connect(settings);
    return client;
  };
});

function connect(settings: Settings): Client {
  return createClient({
    url: settings.TURSO_DATABASE_URL,
    ...(settings.TURSO_AUTH_TOKEN && { authToken: settings.TURSO_AUTH_TOKEN }),
    concurrency: Infinity,
    fetch: fetchAnswer,
  });
}

async function fetchAnswer(request: Request): Promise<Response> {
  const response = await fetch(request);
  if (response.status >= 500 || response.status === 429) throw new Error(`database answered ${response.status}`);
  return response;
}

/**
 * The answer, or 503 when it does not come whole and in time; what SQL refuses is passed on. A timer of ours costs
 * half of a signal for each request, and the platform ends what is still under way when the call is over.
 */
async function inTime<T>(work: Promise<T>, traffic: Traffic): Promise<T> {
  traffic.requests += 1;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    if (error instanceof LibsqlError) throw error;
    traffic.unreachable = true;
    throw new Problem('unavailable');
  } finally {
    clearTimeout(timer);
  }
}
