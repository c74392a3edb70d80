import { and, eq, inArray, ne, sql, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import {
  aliases,
  codes,
  linkCodes,
  outbox,
  phoneChanges,
  sessions,
  trialLinks,
  usedTrials,
  users,
  type User,
} from '#db/schema';
import { sealData } from '../bot/event-data.ts';
import { insertBotEvent } from '../bot/outbox.ts';
import { rebindChatKey } from '../chat/chat-encryption.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { countToday } from '../lib/daily-totals.ts';
import type { Database } from '../lib/database.ts';
import { nameOf } from '../lib/sql.ts';
import type { Settings } from '../settings.ts';
import { currentWeekSql, keepWeek, keepWeekOf, leftCount, usedSql } from '../usage/week.ts';
import {
  bindAlias,
  bindSession,
  bindTrialLink,
  isOwnAlias,
  isOwnTrialLink,
} from '../lib/bindings.ts';
import { renameUser, userOf } from '../identity/identity.ts';
import { type PhoneNumber } from '../identity/phone.ts';

export type Move = {
  phone: PhoneNumber;
  whatsappId: string;
  /**
   * The only session that stays; null to end all, and
   * to drop the id that WhatsApp gave the lost number.
   */
  sessionId: string | null;
  isAllowed: SQL;
  /** The rows that are bound to the number. */
  bound: BoundRow[];
};

/** A business-scoped id, or the keyed hash of a trial link, of a user, with what binds it. */
type BoundRow = { kind: 'alias' | 'trialLink'; value: string; mac: string | null };

export const boundRowsOf = (db: Database, userId: string) =>
  db.all<BoundRow>(sql`select 'alias' as kind, ${aliases.value} as value, ${aliases.mac} as mac
    from ${aliases} where ${aliases.userId} = ${userId} and ${aliases.kind} = 'business'
    union all select 'trialLink', ${trialLinks.mac}, ${trialLinks.ownerMac} from ${trialLinks}
    where ${trialLinks.userId} = ${userId}`);

/**
 * One transaction of a move; `found` is the account afterwards.
 * For `after-restore`, too, which has no live objects.
 */
export async function moveInDatabase(
  { db, settings }: { db: Database; settings: Settings },
  user: User,
  move: Move,
) {
  const { phone, whatsappId, sessionId, isAllowed } = move;
  const now = Date.now();
  const proof = sessionId === null ? 'support' : 'code';
  const wrapped = await rebindChatKey(settings, user, phone);
  const [oldMacs, [newMac]] = (await Promise.all(
    [user.phone, phone].map((each) => keyedHashes(settings.CODE_PEPPER, 'phone', each)),
  )) as [string[], string[]];
  const { business, ownerMacs } = await boundAnew(settings, user.phone, move);
  const ownerMac = sql`(${JSON.stringify(ownerMacs)} ->> ${trialLinks.mac})`;
  const kept = sessionId && { sessionId, phone, isLimited: false };
  const sessionMac = kept && (await bindSession(settings, kept));
  const unchanged = and(
    eq(users.id, user.id),
    eq(users.phone, user.phone),
    sql`${users.chatKey} is ${user.chatKey}`,
  );
  const mayMove = sql`${unchanged} and ${isAllowed}
    and coalesce(${userOf('phone', phone)}, ${user.id}) = ${user.id}`;
  const theirs = sql`from ${users} where ${mayMove}`;
  const when = sql`exists (select 1 ${theirs})`;
  const type = 'user.phone_changed';
  const moved = { previousPhone: user.phone };
  const previous = sql`'sealed', ${await sealData(settings, { type, userId: user.id }, moved)}`;
  // Of what both numbers have used the greater
  // count stands. A paid week goes on as it is.
  const unlessPaid = (column: SQLiteColumn, value: SQL) =>
    sql`${nameOf(column)} = case when ${users.weekFrozen} then ${column} else ${value} end`;
  const ofNumber = await leftCount(phone, settings, now);
  const week = sql`${unlessPaid(users.used, sql`max(${usedSql(now)}, ${ofNumber})`)},
    ${unlessPaid(users.weekStart, currentWeekSql(now))}, usage_seq = usage_seq + 1`;
  const others = and(
    eq(sessions.userId, user.id),
    sessionId === null ? undefined : ne(sessions.id, sessionId),
  );
  const changes = [
    // The bot knows the account by its new
    // number when it receives what still waits.
    sql`update ${outbox} set phone = ${phone}, body = case when ${outbox.body} ->> '$.data.phone' is null then ${outbox.body}
      else json_set(${outbox.body}, '$.data.phone', ${phone}) end where ${eq(outbox.userId, user.id)} and ${when}`,
    insertBotEvent(settings, type, now, sql`${phone}`, previous, theirs),
    countToday({ kind: 'number_change' }, now, theirs),
    sql`delete from ${codes} where ${inArray(codes.phone, [user.phone, phone])} and ${when}`,
    sql`delete from ${linkCodes} where ${eq(linkCodes.phone, phone)} and ${when}`,
    // Whoever writes from the old number within
    // the week goes on in it, as after a deletion.
    await keepWeek(user.phone, settings, now, theirs),
    await keepWeekOf(user.phone, phone, settings, now, when),
    sql`insert into ${usedTrials} (phone_mac, at) select ${newMac}, min(${usedTrials.at}) from ${usedTrials}
      where ${inArray(usedTrials.phoneMac, oldMacs)} and ${when} having count(*) > 0 on conflict do nothing`,
    sql`delete from ${trialLinks} where ${eq(trialLinks.userId, user.id)} and ${ownerMac} is null and ${when}`,
    sql`update ${trialLinks} set phone_mac = ${newMac}, owner_mac = ${ownerMac} where ${eq(trialLinks.userId, user.id)} and ${when}`,
    ...renameUser(
      user.id,
      { phone, proof, whatsapp: { id: whatsappId, proof: 'typed' }, business },
      now,
      when,
    ),
    sql`delete from ${sessions} where ${others} and ${when}`,
    sql`update ${sessions} set bound_mac = ${sessionMac} where ${eq(sessions.userId, user.id)} and ${when}`,
    sql`update ${users} set phone = ${phone}, chat_key = ${wrapped?.chatKey ?? null},
      chat_key_id = ${wrapped?.chatKeyId ?? null}, ${week} where ${mayMove}`,
    sql`delete from ${phoneChanges} where (${eq(phoneChanges.userId, user.id)} or ${eq(phoneChanges.phone, phone)})
      and exists (select 1 from ${users} where ${users.id} = ${user.id} and ${users.phone} = ${phone})`,
  ].map((statement) => db.run(statement));
  const [ended, ...results] = await db.batch([
    db.select({ id: sessions.id }).from(sessions).where(others),
    ...changes,
    db.select().from(users).where(eq(users.id, user.id)),
    db
      .select({ id: users.id })
      .from(users)
      .where(and(eq(users.id, userOf('phone', phone)), ne(users.id, user.id))),
  ]);
  const [change, , [found], [taken]] = results.slice(-4) as [
    { rowsAffected: number },
    unknown,
    User[],
    { id: string }[],
  ];
  return { ended: ended.map(({ id }) => id), moved: change.rowsAffected > 0, found, taken };
}

/** The rows bound to the new number. One that was not the old number's stays nobody's: a move makes no row valid. */
async function boundAnew(settings: Settings, oldPhone: PhoneNumber, { phone, bound }: Move) {
  const owned = await Promise.all(bound.map((row) => isOwnRow(settings, oldPhone, row)));
  const own = bound.filter((_, index) => owned[index]);
  const id = own.find(({ kind }) => kind === 'alias')?.value;
  const links = own.filter(({ kind }) => kind === 'trialLink');
  const ownerMacs = await Promise.all(
    links.map(async ({ value }) => [value, await bindTrialLink(settings, value, phone)]),
  );
  return {
    business: id === undefined ? null : { id, mac: await bindAlias(settings, id, phone) },
    ownerMacs: Object.fromEntries(ownerMacs) as Record<string, string>,
  };
}

function isOwnRow(settings: Settings, phone: PhoneNumber, { kind, value, mac }: BoundRow) {
  return kind === 'alias'
    ? isOwnAlias(settings, { value, phone, mac })
    : isOwnTrialLink(settings, { linkMac: value, phone, mac });
}
