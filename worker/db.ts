import { createClient, type InStatement } from '@libsql/client/web';
import type { LibSQLDatabase } from 'drizzle-orm/libsql';
import { drizzle } from 'drizzle-orm/libsql/web';
import { Problem } from './problem.ts';
import type { Settings } from './settings.ts';

const timeoutMs = 8000;

/** What one request cost at the database. */
export type Traffic = { requests: number; unreachable: boolean };

export type Database = LibSQLDatabase;

/** The database of one request. `batch` is one write transaction in one round trip. */
export function openDatabase(settings: Settings, traffic: Traffic): Database {
  const client = createClient({
    url: settings.TURSO_DATABASE_URL,
    ...(settings.TURSO_AUTH_TOKEN && { authToken: settings.TURSO_AUTH_TOKEN }),
    fetch: (request: Request) => countedFetch(request, traffic),
  });
  return drizzle({
    client: {
      execute: (statement: InStatement) => client.execute(statement),
      // One statement is a transaction by itself.
      batch: async (statements: [InStatement]) =>
        statements.length === 1 ? [await client.execute(statements[0])] : client.batch(statements, 'write'),
    } as never,
  });
}

async function countedFetch(request: Request, traffic: Traffic): Promise<Response> {
  traffic.requests += 1;
  try {
    const response = await fetch(request, { signal: AbortSignal.timeout(timeoutMs) });
    if (response.status >= 500 || response.status === 429) throw new Error(`database answered ${response.status}`);
    const { status, headers } = response;
    return new Response(await response.text(), { status, headers });
  } catch {
    traffic.unreachable = true;
    throw new Problem('unavailable');
  }
}
