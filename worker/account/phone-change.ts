import { and, eq, gt, inArray, isNotNull, ne, or, sql, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import {
  aliases,
  codes,
  customers,
  dailyCodes,
  linkCodes,
  outbox,
  phoneChanges,
  sessions,
  trialLinks,
  usedTrials,
  users,
  type User,
} from '#db/schema';
import { withStripe } from '../billing/stripe-client.ts';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import { sealData } from '../bot/event-data.ts';
import { insertBotEvent } from '../bot/outbox.ts';
import { rebindChatKey } from '../chat/chat-encryption.ts';
import type { Language } from '../contract/languages.ts';
import type { Env } from '../env.ts';
import { keyedHash, keyedHashes } from '../lib/crypto.ts';
import { countToday } from '../lib/daily-totals.ts';
import type { Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import { allowedAt, insertEvents } from '../lib/rate-limits.ts';
import { RequestError, rateLimited } from '../lib/request-error.ts';
import { excluded, insertSelect, nameOf } from '../lib/sql.ts';
import { minuteMs } from '../lib/time.ts';
import { endStreams, expectEnd, publish } from '../live/publish.ts';
import { sendCode } from '../messaging/whatsapp.ts';
import type { Settings } from '../settings.ts';
import { codeDay, reportCodeBudget, sentToday, untilNextBudget } from '../sign-in/code-budget.ts';
import { limitsOf } from '../sign-in/code-limits.ts';
import { newChallenge, newCode } from '../sign-in/code-secrets.ts';
import { currentWeekSql, keepWeek, keepWeekOf, leftCount, usedSql } from '../usage/week.ts';
import { bindAlias, bindSession, bindTrialLink } from '../lib/bindings.ts';
import { renameUser, userOf } from '../identity/identity.ts';
import { phoneSubjects, type PhoneNumber } from '../identity/phone.ts';
import type { Authorized, UserSession } from '../identity/user-session.ts';

export const phoneChangeSubject = (userId: string) => `phone-changes:${userId}`;

const freshForMs = 10 * minuteMs;

type Background = {
  db: Database;
  env: Env;
  settings: Settings;
  waitUntil: (work: Promise<unknown>) => void;
};
type Call = Background & { session: UserSession; address: string; language: Language; now: number };
type NewNumber = { phone: PhoneNumber; phoneAsSent: string };

/** SQL: whether a code or an external token has opened the session within the last ten minutes. */
const isFresh = ({ session, now }: Call) => sql`exists (select 1 from ${sessions}
  where ${sessions.id} = ${session.sessionId} and ${sessions.userId} = ${session.userId}
    and ${sessions.createdAt} > ${now - freshForMs} and not ${sessions.isLimited})`;

type Begun = { fresh: number; free: number; allowedAt: number; affordable: number; sent: number };

/** Sends a code to the wanted number; a taken one gets none, but as many rows are written. Throws 403 or 429. */
export async function beginPhoneChange(
  call: Call,
  { phone, phoneAsSent }: NewNumber,
): Promise<Authorized<string>> {
  const { db, session, settings, now, waitUntil } = call;
  const { claimedUserId } = session;
  const [pepper] = settings.CODE_PEPPER as [string];
  const attempt = crypto.randomUUID();
  const challenge = newChallenge();
  const code = newCode();
  const { codesTo: sentTo, codesFrom } = await limitsOf(call, phone);
  const ofUser = [
    { subject: [phoneChangeSubject(claimedUserId)], limits: settings.LIMIT_CODES_PER_NUMBER },
    ...codesFrom,
  ];
  // Codes that a taken number did not get count here alone, so that nobody keeps its owner from signing in.
  const named = await phoneSubjects(settings, phone);
  const unsentTo = [named.everyCodeTo, named.codesTo].map((names) =>
    names.map((name) => `unsent-${name}`),
  );
  const ofNumber = sentTo.map((each, index) => ({
    ...each,
    subject: [...each.subject, ...unsentTo[index]!],
  }));
  const mayBeginAt = allowedAt([...ofUser, ...ofNumber]);
  const free = sql`${userOf('phone', phone)} is null`;
  const affordable = sql`${sentToday(now)} < ${settings.CODE_BUDGET_PER_DAY}`;
  const allowed = sql`where ${isFresh(call)} and ${mayBeginAt} <= ${now} and ${affordable}`;
  const row = {
    id: await keyedHash(pepper, 'phone-change', claimedUserId, phone, challenge),
    userId: claimedUserId,
    phone,
    whatsappId: phoneAsSent.slice(1),
    // No code matches the empty text.
    mac: sql`case when ${free} then ${await keyedHash(pepper, 'phone-change', claimedUserId, phone, 'code', code)} else '' end`,
    expiresAt: now + settings.CODE_LIFETIME_SECONDS * 1000,
    triesLeft: settings.CODE_TRIES,
  };
  const begins = sql`exists (select 1 from ${phoneChanges} where ${phoneChanges.id} = ${row.id})`;
  const facts = sql`select ${isFresh(call)} as fresh, ${free} as free, ${mayBeginAt} as allowedAt,
    ${affordable} as affordable, ${sentToday(now)} as sent`;
  const day = insertSelect(
    dailyCodes,
    { day: codeDay(now), sent: sql`${free}` },
    sql`where ${begins}`,
  );
  const { sent } = dailyCodes;
  const statements = [
    db.all<Begun>(facts),
    db.run(insertSelect(phoneChanges, row, allowed)),
    db.run(
      insertEvents(attempt, now, [
        [ofUser.map(({ subject }) => subject), begins],
        [sentTo.map(({ subject }) => subject), sql`${begins} and ${free}`],
        [unsentTo, sql`${begins} and not ${free}`],
      ]),
    ),
    db.run(
      sql`${day} on conflict (${nameOf(dailyCodes.day)}) do update set ${nameOf(sent)} = ${sent} + ${excluded(sent)}`,
    ),
  ] as const;
  return session.run([...statements], (_user, [begun]) => {
    if (!begun!.fresh) throw new RequestError('signInNeeded');
    if (begun!.allowedAt > now) throw rateLimited(begun!.allowedAt, now);
    if (!begun!.affordable)
      throw new RequestError('unavailable', { retryAfter: untilNextBudget(now) });
    if (begun!.free) {
      reportCodeBudget(begun!.sent + 1, settings.CODE_BUDGET_PER_DAY);
      // A code that WhatsApp refuses counts too, as one for a taken number does.
      waitUntil(sendCode(call, row.whatsappId, code));
    }
    return challenge;
  });
}

type Attempt = { phone: PhoneNumber; code: string; challenge: string };

/** Moves the account to the number and ends every other session. Throws 401, 403, or 409 if the number is taken. */
export async function verifyPhoneChange(
  call: Call,
  { phone, code, challenge }: Attempt,
): Promise<Authorized<User>> {
  const { db, session, settings, now } = call;
  const { claimedUserId } = session;
  const attempt = crypto.randomUUID();
  const ids = await keyedHashes(
    settings.CODE_PEPPER,
    'phone-change',
    claimedUserId,
    phone,
    challenge,
  );
  const macs = await keyedHashes(
    settings.CODE_PEPPER,
    'phone-change',
    claimedUserId,
    phone,
    'code',
    code,
  );
  const { id, userId, mac, expiresAt, triesLeft, triedBy, wonBy } = phoneChanges;
  const live = and(
    inArray(id, ids),
    eq(userId, session.userId),
    gt(expiresAt, now),
    gt(triesLeft, 0),
  )!;
  const won = sql`exists (select 1 from ${phoneChanges} where ${inArray(id, ids)} and ${wonBy} = ${attempt})`;
  const statements = [
    db.run(sql`update ${phoneChanges} set ${nameOf(triesLeft)} = ${triesLeft} - 1, ${nameOf(triedBy)} = ${attempt},
      ${nameOf(wonBy)} = case when ${inArray(mac, macs)} then ${attempt} end
      where ${live} and ${wonBy} is null and ${isFresh(call)}`),
    db.all<{ fresh: number; whatsappId: string | null }>(sql`select ${isFresh(call)} as fresh,
      (select ${phoneChanges.whatsappId} from ${phoneChanges} where ${inArray(id, ids)} and ${wonBy} = ${attempt}) as whatsappId`),
    boundRowsOf(db, claimedUserId),
  ] as const;
  return session.run([...statements], async (user, _tried, [facts], bound) => {
    if (!facts!.fresh) throw new RequestError('signInNeeded');
    const { whatsappId } = facts!;
    if (whatsappId === null) throw new RequestError('invalidCode');
    const isAllowed = sql`${won} and ${isFresh(call)}`;
    const { sessionId } = session;
    return movePhone(call, user, { phone, whatsappId, sessionId, isAllowed, bound });
  });
}

type Move = {
  phone: PhoneNumber;
  whatsappId: string;
  /** The only session that stays; null to end all, and to drop the id that WhatsApp gave the lost number. */
  sessionId: string | null;
  isAllowed: SQL;
  /** The rows that are bound to the number. */
  bound: BoundRow[];
};

/** A business-scoped id, or the keyed hash of a trial link, of a user. */
type BoundRow = { kind: 'alias' | 'trialLink'; value: string };

export const boundRowsOf = (db: Database, userId: string) =>
  db.all<BoundRow>(sql`select 'alias' as kind, ${aliases.value} as value from ${aliases}
    where ${aliases.userId} = ${userId} and ${aliases.kind} = 'business'
    union all select 'trialLink', ${trialLinks.mac} from ${trialLinks}
    where ${trialLinks.userId} = ${userId}`);

const triesAtOnce = 3;

/** Gives an account another number, and ends its codes. Throws 409 if somebody has the number, else 401. */
export async function movePhone(context: Background, before: User, move: Move): Promise<User> {
  const { db, env, settings, waitUntil } = context;
  const { sessionId } = move;
  let user = before;
  for (let count = 0; count < triesAtOnce; count += 1) {
    expectEnd(context, user.id);
    const { ended, moved, found, taken } = await tryMove({ db, settings }, user, move);
    if (moved && found) {
      for (const id of sessionId === null ? [null] : ended) endStreams(context, user.id, id);
      waitUntil(publish(env, user.id, { kind: 'changed' }));
      waitUntil(deliverSoon(db, settings, user.id));
      waitUntil(renameCustomer({ db, settings }, found));
      return found;
    }
    if (taken) throw new RequestError('conflict', { message: 'Somebody has this number by now.' });
    if (!found) throw new RequestError('unauthenticated');
    // Another call has rewrapped or replaced the key of the conversation.
    user = found;
  }
  throw new RequestError('unavailable', { retryAfter: 1 });
}

async function tryMove(
  { db, settings }: Pick<Background, 'db' | 'settings'>,
  user: User,
  move: Move,
) {
  const { phone, whatsappId, sessionId, isAllowed, bound } = move;
  const now = Date.now();
  const proof = sessionId === null ? 'support' : 'code';
  const wrapped = await rebindChatKey(settings, user, phone);
  const [oldMacs, [newMac]] = (await Promise.all(
    [user.phone, phone].map((each) => keyedHashes(settings.CODE_PEPPER, 'phone', each)),
  )) as [string[], string[]];
  const business = await boundId(settings, phone, bound);
  const links = bound.filter(({ kind }) => kind === 'trialLink');
  const ownerMacs = await Promise.all(
    links.map(async ({ value }) => [value, await bindTrialLink(settings, value, phone)]),
  );
  const ownerMac = sql`(${JSON.stringify(Object.fromEntries(ownerMacs))} ->> ${trialLinks.mac})`;
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
  // Of what both numbers have used the greater count stands. A paid week goes on as it is.
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
    // The bot knows the account by its new number when it receives what still waits.
    sql`update ${outbox} set phone = ${phone}, body = case when ${outbox.body} ->> '$.data.phone' is null then ${outbox.body}
      else json_set(${outbox.body}, '$.data.phone', ${phone}) end where ${eq(outbox.userId, user.id)} and ${when}`,
    insertBotEvent(settings, type, now, sql`${phone}`, previous, theirs),
    countToday({ kind: 'number_change' }, now, theirs),
    sql`delete from ${codes} where ${inArray(codes.phone, [user.phone, phone])} and ${when}`,
    sql`delete from ${linkCodes} where ${eq(linkCodes.phone, phone)} and ${when}`,
    // Whoever writes from the old number within the week goes on in it, as after a deletion.
    await keepWeek(user.phone, settings, now, theirs),
    await keepWeekOf(user.phone, phone, settings, now, when),
    sql`insert into ${usedTrials} (phone_mac, at) select ${newMac}, min(${usedTrials.at}) from ${usedTrials}
      where ${inArray(usedTrials.phoneMac, oldMacs)} and ${when} having count(*) > 0 on conflict do nothing`,
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

async function boundId(settings: Settings, phone: PhoneNumber, bound: BoundRow[]) {
  const id = bound.find(({ kind }) => kind === 'alias')?.value;
  return id === undefined ? null : { id, mac: await bindAlias(settings, id, phone) };
}

const pausesMs = [0, 1000, 5000];

async function renameCustomer(
  parts: Pick<Background, 'db' | 'settings'>,
  { id }: User,
): Promise<void> {
  let customer: string | null = null;
  for (const pause of pausesMs) {
    await scheduler.wait(pause);
    const found = await askedCustomers(parts.db, id).catch(() => null);
    if (found?.length === 0) return;
    const { stripeId, phone } = found?.[0] ?? {};
    customer = stripeId ?? customer;
    if (stripeId && phone && (await isRenamed(parts.settings, stripeId, { id, phone }))) return;
  }
  log('error', 'customer_not_renamed', { customer });
}

/** The customer that was requested for a user; its id is unknown while Stripe creates it. */
function askedCustomers(db: Database, userId: string) {
  const isAsked = or(isNotNull(customers.stripeId), eq(customers.stripeAsked, true));
  return db
    .select({ stripeId: customers.stripeId, phone: users.phone })
    .from(customers)
    .innerJoin(users, eq(users.id, customers.userId))
    .where(and(eq(customers.userId, userId), isAsked));
}

function isRenamed(
  settings: Settings,
  customer: string,
  { id, phone }: Pick<User, 'id' | 'phone'>,
): Promise<boolean> {
  const update = { phone, metadata: { userId: id, phone } };
  return withStripe(settings, (stripe) => stripe.customers.update(customer, update)).then(
    () => true,
    () => false,
  );
}
