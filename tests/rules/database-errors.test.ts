import { sql } from 'drizzle-orm';
import { afterEach, expect, it, vi } from 'vitest';
import { openDatabase, type Traffic } from '../../worker/lib/database.ts';
import { toRequestError } from '../../worker/http/error-response.ts';

const settings = { TURSO_DATABASE_URL: 'http://database.test', TURSO_AUTH_TOKEN: 'token' };
const lines: string[] = [];

/** Makes the database respond with this to every request. */
function respondWith(status: number, body: unknown): void {
  vi.stubGlobal('fetch', async () => Response.json(body, { status }));
  for (const method of ['log', 'error'] as const)
    vi.spyOn(console, method).mockImplementation((line) => lines.push(line));
}

const sqlError = (code: string, message: string) => {
  const error = { type: 'error', error: { code, message } };
  return { baton: null, base_url: null, results: [error, { type: 'ok', response: { type: 'close' } }] };
};

/** The error of a call after the statement's error. */
async function errorOf(statement = sql`select 1`): Promise<string> {
  const traffic: Traffic = { requests: 0, unreachable: false };
  try {
    await openDatabase(settings, traffic).run(statement);
    return 'none';
  } catch (error) {
    return toRequestError(error, traffic).errorName;
  }
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  lines.length = 0;
});

it.each([
  ['SQLITE_BUSY', 'SQLite error: database is locked'],
  ['SQLITE_BUSY_SNAPSHOT', 'SQLite error: snapshot'],
  ['SQLITE_UNKNOWN', 'SQLite error: database is locked'],
])('makes 503 of %s (%s): another writer holds the database', async (code, message) => {
  respondWith(200, sqlError(code, message));
  expect(await errorOf()).toBe('unavailable');
});

it.each([401, 403, 404])(
  'makes 503 of HTTP %d, which an expired token or a missing database gives, and logs it',
  async (status) => {
    respondWith(status, { error: 'Authentication failed: The JWT has expired' });
    expect(await errorOf()).toBe('unavailable');
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ level: 'error', event: 'database_refused', status }]);
  },
);

it.each([429, 500, 502, 503])('makes 503 of HTTP %d', async (status) => {
  respondWith(status, {});
  expect(await errorOf()).toBe('unavailable');
});

it.each(['SQLITE_CONSTRAINT', 'SQL_PARSE_ERROR', 'SQLITE_UNKNOWN'])('keeps %s an internal error', async (code) => {
  respondWith(200, sqlError(code, 'SQLite error: something that the statement did'));
  expect(await errorOf()).toBe('internal');
});
