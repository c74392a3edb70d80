import { sql, type SQL } from 'drizzle-orm';
import { tellBot } from '../messaging/outbox.ts';
import { subjects } from './issue-code.ts';

/** SQL that tells the bot to erase a user's history and removes every row about the user. */
export function eraseUser(id: SQL, now: number): SQL[] {
  const phone = sql`(select phone from users where id = ${id})`;
  const counted = [subjects.codesTo(''), subjects.wrongTriesAt('')].map((prefix) => sql`${prefix} || ${phone}`);
  return [
    tellBot('user.deleted', now, sql`phone`, sql`'userId', id`, sql`from users where id = ${id}`),
    sql`delete from codes where phone = ${phone}`,
    sql`delete from hits where subject in (${sql.join(counted, sql`, `)})`,
    sql`delete from users where id = ${id}`,
    sql`delete from customers where user_id = ${id}`,
    sql`delete from trial_links where user_id = ${id}`,
    sql`delete from sessions where user_id = ${id}`,
  ];
}
