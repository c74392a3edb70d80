import { readFileSync } from 'node:fs';
import { createClient, type Client } from '@libsql/client/web';
import type { Settings } from '../../../settings.ts';
import { failureReasonOf } from '../http-request.ts';
import { fine, wrong, type Finding } from '../finding.ts';
import { howToGet } from '../how-to-get.ts';
import { checkStoredState } from './stored-state.ts';

type Journal = { entries: { tag: string; when: number }[] };

const journalFile = new URL('../../../../drizzle/migrations/meta/_journal.json', import.meta.url);

/** Whether the database responds, accepts writes, and has the schema of this version. */
export async function checkDatabase(settings: Settings, mayBeBehind: boolean): Promise<Finding[]> {
  const { TURSO_DATABASE_URL: url, TURSO_AUTH_TOKEN: authToken } = settings;
  const client = createClient({ url, ...(authToken && { authToken }) });
  try {
    await client.execute('select 1');
    const schema = await checkSchema(client, mayBeBehind);
    const isCurrent = (await waitingMigrations(client)).length === 0;
    const stored = isCurrent ? await checkStoredState(client, settings, Date.now()) : [];
    return [fine('The database answers'), schema, await checkWriting(client), ...stored];
  } catch (error) {
    return [refusal(error)];
  } finally {
    client.close();
  }
}

async function checkSchema(client: Client, mayBeBehind: boolean): Promise<Finding> {
  const waiting = await waitingMigrations(client);
  if (waiting.length === 0) return fine('The database has the newest schema');
  if (mayBeBehind) return fine(`The database waits for ${waiting.join(', ')}`);
  return wrong(
    'TURSO_DATABASE_URL',
    `the database lacks ${waiting.join(', ')}`,
    'Run `npm run deploy`, which migrates it.',
  );
}

async function waitingMigrations(client: Client): Promise<string[]> {
  const { entries }: Journal = JSON.parse(readFileSync(journalFile, 'utf8'));
  const known = await client.execute("select 1 from sqlite_master where name = '__drizzle_migrations'");
  if (known.rows.length === 0) return entries.map(({ tag }) => tag);
  const { rows } = await client.execute('select max(created_at) as newest from __drizzle_migrations');
  return entries.filter(({ when }) => when > Number(rows[0]?.newest ?? 0)).map(({ tag }) => tag);
}

/** Tries a write and rolls it back. */
async function checkWriting(client: Client): Promise<Finding> {
  try {
    const transaction = await client.transaction('write');
    await transaction.execute('create table doctor_was_here (at integer)');
    await transaction.rollback();
    return fine('The database takes writes');
  } catch {
    return wrong('TURSO_AUTH_TOKEN', 'allows no writes', howToGet.TURSO_AUTH_TOKEN);
  }
}

function refusal(error: unknown): Finding {
  const { status } = ((error as Error).cause ?? {}) as { status?: number };
  if (status === 401 || status === 403) {
    return wrong('TURSO_AUTH_TOKEN', 'is refused by the database', howToGet.TURSO_AUTH_TOKEN);
  }
  const why = status ? `it answers ${status}` : failureReasonOf(error);
  return wrong('TURSO_DATABASE_URL', `the database does not answer (${why})`, howToGet.TURSO_DATABASE_URL);
}
