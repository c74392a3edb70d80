import { createHash, createHmac, hkdfSync } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import SqliteFile from 'libsql';
import { migrate } from '../../../drizzle/migrate.ts';
import { root, stateDir, settingsFor } from './settings.ts';
import { startProgram, type Running } from './workerd.ts';

/** Unix ms, in the future, so that no seeded user's week ends during a measurement. */
export const weekAnchor = Date.UTC(2100, 0, 1);

/** Far below every limit, so that no measured message is refused. */
export const usedBefore = -1_000_000_000;

const factor = 2_654_435_761;

/** The seeded user with this number, counted from 0; their one session has the user's id. */
export function personAt(index: number): { id: string; phone: string } {
  // Distributes rows over their indexes as random ids do.
  const scattered = ((index * factor) % 4_294_967_296).toString(16).padStart(8, '0');
  const id = `${scattered}-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
  return { id, phone: `+${12_000_000_000 + index}` };
}

export async function startDatabase(port: number, users: number): Promise<Running> {
  const file = await seeded(port, users);
  const directory = emptyFolder('databases', String(port));
  copyFileSync(file, join(directory, 'solace.db'));
  return serve(port, directory);
}

/** A database file with so many users; built once for a schema, then copied. */
async function seeded(port: number, users: number): Promise<string> {
  const sources = ['drizzle/migrations/meta/_journal.json', 'tests/bench/rig/database.ts'];
  const version = createHash('sha256').update(
    sources.map((file) => readFileSync(join(root, file), 'utf8')).join(),
  );
  const file = join(stateDir, 'seeds', `${users}-${version.digest('hex').slice(0, 12)}.db`);
  if (existsSync(file)) return file;
  const directory = emptyFolder('seeds', 'building');
  const empty = await serve(port, directory);
  await migrate(`${empty.url}/libsql/`, settingsFor(port).TURSO_AUTH_TOKEN);
  await empty.stop();
  seed(join(directory, 'solace.db'), users);
  renameSync(join(directory, 'solace.db'), file);
  return file;
}

function emptyFolder(...path: string[]): string {
  const folder = join(stateDir, ...path);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

const serve = (port: number, stateDir: string) =>
  startProgram(
    'rig/server-process.ts',
    { port, stateDir, secrets: settingsFor(port) },
    `http://127.0.0.1:${port}`,
  );

const contactedAt = Date.UTC(2026, 0, 1);

/** SQL over a row number `i`: the same values as `personAt`. */
const person = `with recursive
  number (i) as (select 0 union all select i + 1 from number where i < ? - 1),
  person (i, id, phone) as (select i, printf('%08x-0000-4000-8000-%012x', (i * ${factor}) % 4294967296, i),
    '+' || (12000000000 + i) from number)`;

const tables = [
  `insert into users (id, phone, status, created_at, contacted_at, week_anchor, week_start, used, tier)
    select id, phone, 'approved', ${contactedAt}, ${contactedAt}, ${weekAnchor}, ${weekAnchor},
      ${usedBefore}, 'platinum' from person`,
  `insert into aliases (kind, value, user_id, proof, at) select 'phone', phone, id, 'contact', ${contactedAt} from person`,
  `insert into aliases (kind, value, user_id, proof, at) select 'whatsapp', substr(phone, 2), id, 'contact', ${contactedAt} from person`,
  `insert into sessions (id, user_id, created_at, expires_at) select id, id, ${contactedAt}, ${weekAnchor} from person`,
  `insert into bot_calls (id, fingerprint, by, at, facts)
    select replace(id || id, '-', ''), hex(zeroblob(32)), id, ${weekAnchor}, '{"at":${contactedAt},"allowed":1}' from person`,
  `insert into rate_limit_events (subject, at, by) select 'codes:' || printf('%064d', i), ${weekAnchor}, id from person`,
];

/** SQL: so many rows wait for the bot, half of them of one account; so many events of Stripe were received. */
export const waiting = [
  `${person} insert into outbox (id, user_id, phone, body, message_id, created_at, due_at)
    select 'evt_waits_' || i, case when i % 2 then (select id from person where i = 1) else id end, phone,
      json_object('type', 'chat.message', 'data', json_object('messageId', id, 'locale', 'en', 'country', null)),
      id, ${contactedAt}, ${contactedAt} from person`,
  `${person} insert into stripe_events (id, type, at) select 'evt_' || id, 'invoice.paid', ${weekAnchor} from person`,
];

function seed(file: string, users: number): void {
  const database = new SqliteFile(file);
  database.exec(
    'pragma synchronous = off; pragma cache_size = -1000000; pragma temp_store = memory; begin',
  );
  for (const table of tables) database.prepare(`${person} ${table}`).run(users);
  bindSessions(database, users);
  database.exec('commit; pragma wal_checkpoint(truncate)');
  database.close();
}

/** Binds each session to its number, as signing in does (worker/identity/bindings.ts). */
function bindSessions(database: SqliteFile.Database, users: number): void {
  const [, secret = ''] = settingsFor(0).SESSION_KEYS.split(/[: ]/);
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'session', 32));
  const bind = database.prepare('update sessions set binding_mac = ? where id = ?');
  for (let index = 0; index < users; index += 1) {
    const { id, phone } = personAt(index);
    bind.run(createHmac('sha256', key).update(`${id}|full|${phone}`).digest('hex'), id);
  }
}
