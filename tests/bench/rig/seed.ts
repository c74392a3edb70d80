import Database from 'libsql';
import { personSql, usedBefore, weekAnchor } from './person.ts';

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
  `insert into rate_limit_events (subject, at, by) select 'codes:' || ${phone}, ${weekAnchor}, ${sessionId} from person`,
];

/** Fills an empty database in bulk: each user with a session, a remembered call of the bot and a counted code. */
export function seed(file: string, users: number): void {
  const database = new Database(file);
  database.exec('pragma synchronous = off; pragma cache_size = -1000000; pragma temp_store = memory');
  const person = `with recursive person (i) as (select 0 union all select i + 1 from person where i < ${users - 1})`;
  database.exec('begin');
  for (const table of tables) database.exec(`${person} ${table}`);
  database.exec('commit; pragma wal_checkpoint(truncate)');
  database.close();
}
