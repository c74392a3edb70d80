import { sql, type SQL } from 'drizzle-orm';
import { tellBot } from '../messaging/outbox.ts';
import { subjects } from './issue-code.ts';

/**
 * SQL that removes every row about a user and tells the bot to erase the history. `allowed` is the user's id while the
 * caller may do this, else null; `id` is the id itself, for what is left when the user's own row has gone.
 */
export function eraseUser(allowed: SQL, id: SQL, now: number): SQL[] {
  const phone = sql`(select phone from users where id = ${allowed})`;
  const counted = [subjects.codesTo(''), subjects.wrongTriesAt('')].map((prefix) => sql`${prefix} || ${phone}`);
  const gone = sql`not exists (select 1 from users where id = ${id})`;
  return [
    tellBot('user.deleted', now, sql`phone`, sql`'userId', id`, sql`from users where id = ${allowed}`),
    sql`delete from codes where phone = ${phone}`,
    sql`delete from hits where subject in (${sql.join(counted, sql`, `)})`,
    sql`delete from users where id = ${allowed}`,
    sql`delete from trial_links where user_id = ${id} and ${gone}`,
    sql`delete from sessions where user_id = ${id} and ${gone}`,
  ];
}
