import { and, sql, type SQL, asc, eq } from 'drizzle-orm';
import { aliases, outbox, users, type PhoneNumber, type User } from '#db/schema';
import type { Settings } from '../settings.ts';
import { fromBase64, keyedHash, seal, sealingKey, toBase64, unseal } from '../lib/crypto.ts';
import type { Database } from '../lib/database.ts';

/** The events that hold all their data; `chat.message` points to a message (worker/chat/message-sending.ts). */
export type BotEvent =
  | 'user.approved'
  | 'user.deleted'
  | 'user.phone_changed'
  | 'user.unused'
  | 'plan.changed'
  | 'platform.changed'
  | 'chat.cleared'
  | 'chat.consent';

/** The body of an event that was on its way when it was cancelled: only its lease still counts. */
export const cancelledBody = '{}';

/** SQL that removes undelivered events about a user. One in delivery keeps its row, so that none overtakes it. */
export function cancelBotEvents(
  userId: SQL,
  now: number,
  which: 'all' | 'messages' = 'all',
): SQL[] {
  const own = sql`${outbox.userId} = ${userId}${which === 'all' ? sql`` : sql` and ${outbox.messageId} is not null`}`;
  return [
    sql`delete from ${outbox} where ${own} and ${outbox.leasedUntil} <= ${now}`,
    sql`update ${outbox} set id = 'cancelled_' || seq, body = ${cancelledBody}, message_id = null, due_at = leased_until
      where ${own}`,
  ];
}

/** SQL: the data of an event about the row of `users`: the number, the business-scoped id if it is known, and `data`. */
export function eventData(phone: SQL, data: SQL): SQL {
  const businessUserId = sql`(select ${aliases.value} from ${aliases} where ${aliases.userId} = ${users.id} and ${aliases.kind} = 'business')`;
  // A patch leaves out what is null.
  return sql`json_patch(json_object('phone', ${phone}, ${data}), json_object('businessUserId', ${businessUserId}))`;
}

/** SQL that inserts an event if `from` yields a row; `data` lists SQL keys and values after the phone. */
export function insertBotEvent(
  settings: Pick<Settings, 'BOT_WEBHOOK_URL'>,
  type: BotEvent,
  now: number,
  phone: SQL,
  data: SQL,
  from: SQL,
): SQL {
  const body = sql`json_object('type', ${type}, 'timestamp', ${new Date(now).toISOString()},
    'data', ${eventData(phone, data)})`;
  const event = sql`select ${users.id} as user_id, ${phone} as phone, ${body} as body, ${now} as created_at, ${now} as due_at ${from}`;
  const hasBot = settings.BOT_WEBHOOK_URL ? sql`` : sql`where false`;
  return sql`insert into outbox (user_id, phone, body, created_at, due_at) select * from (${event}) ${hasBot}`;
}

type ParkedRow = { seq: number; phone: PhoneNumber; body: string };

const sealedAtOnce = 100;
const isDeletion = sql`${outbox.parkedAt} is not null and ${outbox.body} ->> '$.type' = 'user.deleted'`;

/** SQL: whether a parked event is of a deleted account, of whose number only a keyed hash and ciphertext are left. */
export const isSealed = sql`${isDeletion} and ${outbox.body} ->> '$.sealed' is not null`;

/** Encrypts the parked events of deleted accounts, which the cleanup job keeps 30 days, and hashes their number. */
export async function sealParkedDeletions(db: Database, { CODE_PEPPER }: Settings): Promise<void> {
  const rows = await db.all<ParkedRow>(sql`select seq, phone, body from ${outbox}
    where ${isDeletion} and ${outbox.body} ->> '$.sealed' is null limit ${sealedAtOnce}`);
  const [pepper] = CODE_PEPPER as [string];
  for (const { seq, phone, body } of rows) {
    const key = await sealingKey(pepper)('parked-event');
    const sealed = toBase64(await seal(key, contextOf(seq), new TextEncoder().encode(body)));
    const hash = (await keyedHash(pepper, 'log', phone)) as PhoneNumber;
    await db
      .update(outbox)
      .set({ userId: null, phone: hash, body: JSON.stringify({ type: 'user.deleted', sealed }) })
      .where(and(eq(outbox.seq, seq), eq(outbox.body, body), isDeletion));
  }
}

/** The number and the body of a parked event; throws if no secret of `CODE_PEPPER` opens a sealed one. */
export async function openParked({ CODE_PEPPER }: Settings, row: ParkedRow): Promise<ParkedRow> {
  const { sealed }: { sealed?: string } = JSON.parse(row.body);
  if (sealed === undefined) return row;
  for (const pepper of CODE_PEPPER) {
    const key = await sealingKey(pepper)('parked-event');
    const plain = await unseal(key, contextOf(row.seq), fromBase64(sealed)).catch(() => null);
    if (!plain) continue;
    const body = new TextDecoder().decode(plain);
    const { data }: { data: { phone: PhoneNumber } } = JSON.parse(body);
    return { ...row, body, phone: data.phone };
  }
  throw new Error(
    `No secret of CODE_PEPPER opens the event ${row.seq}. Put the earlier one back behind the new one.`,
  );
}

const contextOf = (seq: number) => `parked|v1|${seq}`;

export async function exportOutbox({ user, db }: { user: User; db: Database }) {
  const rows = await db
    .select({ body: outbox.body })
    .from(outbox)
    .where(eq(outbox.userId, user.id))
    .orderBy(asc(outbox.seq));
  return { eventsForTheBot: rows.map(({ body }): unknown => JSON.parse(body)) };
}
