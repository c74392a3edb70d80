import { and, eq, gt, inArray, isNotNull, or, sql } from 'drizzle-orm';
import { customers, dailyCodes, phoneChanges, sessions, users, type User } from '#db/schema';
import { ownCustomer } from '../billing/customer.ts';
import { withStripe } from '../billing/stripe-client.ts';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import type { Language } from '../contract/languages.ts';
import type { Env } from '../env.ts';
import { keyedHash, keyedHashes } from '../lib/crypto.ts';
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
import { userOf } from '../identity/identity.ts';
import { phoneSubjects, type PhoneNumber } from '../identity/phone.ts';
import type { Authorized, UserSession } from '../identity/user-session.ts';

import { boundRowsOf, moveInDatabase, type Move } from './move-number.ts';

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
      waitUntil(sendCode(call, row.whatsappId, { code, sentBy: attempt }));
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

const triesAtOnce = 3;

/** Gives an account another number, and ends its codes. Throws 409 if somebody has the number, else 401. */
export async function movePhone(context: Background, before: User, move: Move): Promise<User> {
  const { db, env, settings, waitUntil } = context;
  const { sessionId } = move;
  let user = before;
  for (let count = 0; count < triesAtOnce; count += 1) {
    expectEnd(context, user.id);
    const { ended, moved, found, taken } = await moveInDatabase({ db, settings }, user, move);
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
  const rename = withStripe(settings, async (stripe) => {
    await ownCustomer(stripe, { customer: { stripeId: customer }, user: { id } });
    return stripe.customers.update(customer, update);
  });
  return rename.then(
    () => true,
    () => false,
  );
}
