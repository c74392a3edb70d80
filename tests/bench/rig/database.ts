import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@libsql/client/web';
import { migrate } from '../../../drizzle/migrate.ts';
import { root, stateDir, settingsFor } from './settings.ts';
import { startProgram, type Running } from './workerd.ts';
import SqliteFile from 'libsql';

/**
 * The first instant of the seeded users' week, in unix ms: it is in the future, so that no week ends during a
 * measurement.
 */
export const weekAnchor = Date.UTC(2100, 0, 1);

/** Far below every limit, so that no measured message is refused. */
export const usedBefore = -1_000_000_000;

const userFactor = 2_654_435_761;
const sessionFactor = 2_246_822_519;

/** Distributes rows over their indexes as random ids do, but computes the ids from `index`. */
const idSql = (factor: number) => `printf('%08x-0000-4000-8000-%012x', (i * ${factor}) % 4294967296, i)`;

function idOf(index: number, factor: number): string {
  const scattered = ((index * factor) % 4_294_967_296).toString(16).padStart(8, '0');
  return `${scattered}-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
}

/** SQL over a row number `i`: the same values as `personAt`. */
const personSql = {
  userId: idSql(userFactor),
  sessionId: idSql(sessionFactor),
  phone: `'+' || (12000000000 + i)`,
};

export type Person = { userId: string; sessionId: string; phone: string };

/** The seeded user with this number, counted from 0. */
export function personAt(index: number): Person {
  return {
    userId: idOf(index, userFactor),
    sessionId: idOf(index, sessionFactor),
    phone: `+${12_000_000_000 + index}`,
  };
}

const program = fileURLToPath(new URL('database-process.ts', import.meta.url));

export type Database = Running & { client: Client };

/** The local libSQL server with so many users, in its own process; ends with this one. */
export async function startDatabase(port: number, users: number): Promise<Database> {
  const directory = join(stateDir, 'databases', String(port));
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  copyFileSync(await seeded(port, users), join(directory, 'solace.db'));
  return serve(port, directory);
}

/** A database file with so many users; built once for a schema, then copied. */
async function seeded(port: number, users: number): Promise<string> {
  const sources = ['drizzle/migrations/meta/_journal.json', 'tests/bench/rig/database.ts'];
  const version = createHash('sha256').update(sources.map((file) => readFileSync(join(root, file), 'utf8')).join());
  const file = join(stateDir, 'seeds', `${users}-${version.digest('hex').slice(0, 12)}.db`);
  if (existsSync(file)) return file;
  const directory = join(stateDir, 'seeds', 'building');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const empty = await serve(port, directory);
  await migrate(`${empty.url}/libsql/`, settingsFor(port).TURSO_AUTH_TOKEN);
  await empty.stop();
  seed(join(directory, 'solace.db'), users);
  renameSync(join(directory, 'solace.db'), file);
  return file;
}

async function serve(port: number, directory: string): Promise<Database> {
  const secrets = settingsFor(port);
  const url = `http://127.0.0.1:${port}`;
  const server = await startProgram(program, { port, stateDir: directory, secrets }, url);
  const client = createClient({ url: `${url}/libsql/`, authToken: secrets.TURSO_AUTH_TOKEN });
  const stop = async () => {
    client.close();
    await server.stop();
  };
  return { ...server, client, stop };
}

const { userId, sessionId, phone } = personSql;
const contactedAt = Date.UTC(2026, 0, 1);

const tables = [
  `insert into users (id, phone, whatsapp_id, status, created_at, contacted_at, week_anchor, week_start, used, tier)
    select ${userId}, ${phone}, substr(${phone}, 2), 'approved', ${contactedAt}, ${contactedAt}, ${weekAnchor},
      ${weekAnchor}, ${usedBefore}, 'platinum' from person`,
  `insert into sessions (id, user_id, created_at, expires_at)
    select ${sessionId}, ${userId}, ${contactedAt}, ${weekAnchor} from person`,
  `insert into bot_calls (id, fingerprint, by, at, answer)
    select 'msg_' || ${sessionId}, hex(zeroblob(32)), ${userId}, ${weekAnchor}, '{"at":${contactedAt},"allowed":1}' from person`,
  `insert into rate_limit_events (subject, at, by) select 'codes:' || printf('%064d', i), ${weekAnchor}, ${sessionId} from person`,
];

/** Fills an empty database in bulk: each user with a session, a remembered call of the bot and a counted code. */
function seed(file: string, users: number): void {
  const database = new SqliteFile(file);
  database.exec('pragma synchronous = off; pragma cache_size = -1000000; pragma temp_store = memory');
  const person = `with recursive person (i) as (select 0 union all select i + 1 from person where i < ${users - 1})`;
  database.exec('begin');
  for (const table of tables) database.exec(`${person} ${table}`);
  database.exec('commit; pragma wal_checkpoint(truncate)');
  database.close();
}
