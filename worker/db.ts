import { createClient, type InStatement } from '@libsql/client/web';
import { drizzle } from 'drizzle-orm/libsql/web';
import * as schema from '#db/schema';
import { Problem } from './problem.ts';
import type { Settings } from './settings.ts';

const timeoutMs = 8000;

/** What one request cost at the database. */
export type Traffic = { requests: number; unreachable: boolean };

/** The database of one request. `batch` is one write transaction in one round trip, `reading.batch` one read. */
export function openDatabase(settings: Settings, traffic: Traffic) {
  const client = createClient({
    url: settings.TURSO_DATABASE_URL,
    ...(settings.TURSO_AUTH_TOKEN && { authToken: settings.TURSO_AUTH_TOKEN }),
    fetch: (request: Request) => countedFetch(request, traffic),
  });
  const inMode = (mode: 'write' | 'read') =>
    drizzle({
      schema,
      client: {
        ...client,
        execute: client.execute.bind(client),
        batch: (list: InStatement[]) => client.batch(list, mode),
      },
    } as never) as ReturnType<typeof drizzle<typeof schema>>;
  return Object.assign(inMode('write'), { reading: inMode('read') });
}

export type Database = ReturnType<typeof openDatabase>;

async function countedFetch(request: Request, traffic: Traffic): Promise<Response> {
  traffic.requests += 1;
  try {
    const response = await fetch(request, { signal: AbortSignal.timeout(timeoutMs) });
    if (response.status >= 500 || response.status === 429) throw new Error(`database answered ${response.status}`);
    return new Response(await response.arrayBuffer(), response);
  } catch {
    traffic.unreachable = true;
    throw new Problem('unavailable');
  }
}
