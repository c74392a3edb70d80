import { and, eq, gt, inArray, isNotNull, sql, type SQL } from 'drizzle-orm';
import { botCalls, linkCodes, rateLimitEvents, users } from '#db/schema';
import { linkClaimed, userOf } from '../accounts/identity.ts';
import { phoneSubjects, type PhoneNumber } from '../accounts/phone.ts';
import { openSessionSql, type SessionClaims } from '../accounts/user-session.ts';
import { upsertUser } from '../accounts/user-record.ts';
import {
  applyOnce,
  idempotentStatements,
  isFirstCall,
  type BotCall,
} from '../bot/incoming-call.ts';
import type { Language } from '../contract/languages.ts';
import type { AccountStatus } from '../contract/schemas.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { countToday } from '../lib/daily-totals.ts';
import { batch, type Database } from '../lib/database.ts';
import { allowedAt, hashedSubject, insertEvents } from '../lib/rate-limits.ts';
import { RequestError, rateLimited } from '../lib/request-error.ts';
import { isIn, prepared } from '../lib/sql.ts';
import { dayMs } from '../lib/time.ts';
import { sendCode } from '../messaging/whatsapp.ts';
import type { Settings } from '../settings.ts';
import { firstWeek } from '../usage/week.ts';
import {
  isAffordable,
  reportCodeBudget,
  sentToday,
  untilNextBudget,
  codeRow,
  insertCode,
  newCode,
  removeCode,
} from './one-time-code.ts';

type Call = { db: Database; settings: Settings; now: number };

/** SQL: whether a number has written to the assistant. */
const hasWritten = (phone: SQL) => sql`exists (select 1 from ${users}
  where ${users.id} = ${userOf('phone', phone)} and ${isNotNull(users.contactedAt)})`;

export type LinkState = 'waiting' | 'contacted' | 'code_sent' | 'expired';

/** What has happened since the login page showed a link code; `expired` for anybody who does not know the code. */
export async function stateOfLink(
  call: Call,
  phone: PhoneNumber,
  linkCode: string,
): Promise<LinkState> {
  const { db, settings, now } = call;
  const ids = await keyedHashes(settings.CODE_PEPPER, 'challenge', phone, linkCode);
  const [link] = await db
    .select({
      isClaimed: sql<number>`${isNotNull(linkCodes.sentBy)}`,
      isKnown: sql<number>`${hasWritten(sql`${linkCodes.phone}`)}`,
    })
    .from(linkCodes)
    .where(and(inArray(linkCodes.challengeId, ids), gt(linkCodes.expiresAt, now)));
  if (!link) return 'expired';
  if (link.isClaimed) return 'code_sent';
  return link.isKnown ? 'contacted' : 'waiting';
}

const claimLimits = [{ most: 3, per: dayMs }];

type ClaimCall = Call & { botCall: BotCall };
type Facts = { isOpen: number; mayClaimAt: number; maySendAt: number; sent: number };

export type Link = {
  mac: string;
  phone: PhoneNumber;
  whatsappId: string;
  challengeId: string;
  language: Language;
  expiresAt: number;
};

const isOpenLink = (mac: SQL, now: number) =>
  sql`${mac} and ${linkCodes.expiresAt} > ${now} and ${linkCodes.claimedBy} is null`;

export async function openLinkSql(
  { settings, now }: Pick<Call, 'settings' | 'now'>,
  linkCode: string,
): Promise<SQL> {
  const macs = await keyedHashes(settings.CODE_PEPPER, 'link-code', linkCode.toUpperCase());
  return sql`select mac, phone, whatsapp_id as whatsappId, challenge_id as challengeId, language,
    expires_at as expiresAt from ${linkCodes} where ${isOpenLink(inArray(linkCodes.mac, macs), now)}`;
}

/** Sends a number's code for an id that nobody has. Throws 400, 429, or 503: then the link code stays good. */
export async function claimNumber(
  call: ClaimCall,
  businessUserId: string,
  link: Link | undefined,
): Promise<void> {
  const { db, settings, now } = call;
  if (!link) throw refusedCode();
  const { phone, whatsappId, challengeId, expiresAt } = link;
  const open = isOpenLink(sql`${linkCodes.mac} = ${link.mac}`, now);
  const code = newCode();
  const row = await codeRow(settings, phone, code, now);
  const id = row.sentBy;
  const number = await phoneSubjects(settings, phone);
  const claims = hashedSubject(
    'claims',
    await keyedHashes(settings.CODE_PEPPER, 'limit', businessUserId),
  );
  const mayClaim = allowedAt([{ subject: claims, limits: claimLimits }], now);
  const maySend = allowedAt(
    [
      { subject: number.everyCodeTo, limits: settings.LIMIT_CODES_PER_NUMBER_HARD },
      { subject: number.codesTo, limits: settings.LIMIT_CODES_PER_NUMBER },
      { subject: number.wrongTriesAt, limits: settings.LIMIT_WRONG_TRIES_PER_NUMBER },
    ],
    now,
  );
  const isOpen = sql`(exists (select 1 from ${linkCodes} where ${open}) and not ${hasWritten(sql`${phone}`)}
    and ${userOf('business', businessUserId)} is null)`;
  const affordable = isAffordable(sentToday(now), sql`false`, settings);
  const mayIssue = sql`${isOpen} and ${mayClaim} <= ${now} and ${maySend} <= ${now} and ${affordable}`;
  const statements = idempotentStatements<string>(
    sql`select json_object('sentBy', ${id}) as answer where ${mayIssue}`,
    {
      // The code signs in by this row, so the row stays as long.
      link: sql`update ${linkCodes} set claimed_by = ${businessUserId}, sent_by = ${id},
        expires_at = max(expires_at, ${row.expiresAt}) where ${open} and ${isFirstCall}`,
      events: insertEvents(id, now, [[[claims, number.everyCodeTo, number.codesTo], isFirstCall]]),
      ...insertCode(row, { challengeId, now }, isFirstCall),
    },
  );
  const facts = sql`select ${isOpen} as isOpen, ${mayClaim} as mayClaimAt, ${maySend} as maySendAt, ${sentToday(now)} as sent`;
  const { response, rows } = await applyOnce<{ sentBy: string }, string>(call, {
    ...statements,
    facts: prepared(facts),
  });
  const found = (rows['facts'] as Facts[])[0]!;
  if (!response) throw refusal(found, now);
  // A replay of a call that another request applies: that one sends the code.
  if (response.sentBy !== id) return;
  reportCodeBudget(found.sent, settings.CODE_BUDGET_PER_DAY);
  const outcome = await sendCode({ settings, language: link.language }, whatsappId, code);
  if (outcome === 'taken') return;
  // A message whose response was lost may arrive, so the hard limit of the number keeps counting it.
  const limited = [
    ...claims,
    ...number.codesTo,
    ...(outcome === 'unknown' ? [] : number.everyCodeTo),
  ];
  const undo = [
    db
      .update(linkCodes)
      .set({ claimedBy: null, sentBy: null, expiresAt })
      .where(eq(linkCodes.sentBy, id)),
    db.delete(botCalls).where(eq(botCalls.id, call.botCall.id)),
    db
      .delete(rateLimitEvents)
      .where(
        and(
          isIn(rateLimitEvents.subject, limited),
          eq(rateLimitEvents.at, now),
          eq(rateLimitEvents.by, id),
        ),
      ),
    ...removeCode(phone, id, now).map((statement) => db.run(statement)),
  ] as const;
  await db.batch([...undo]);
  throw new RequestError('unavailable', { retryAfter: 1 });
}

function refusal({ isOpen, mayClaimAt, maySendAt }: Facts, now: number): RequestError {
  if (!isOpen) return refusedCode();
  if (Math.max(mayClaimAt, maySendAt) > now)
    return rateLimited(Math.max(mayClaimAt, maySendAt), now);
  return new RequestError('unavailable', { retryAfter: untilNextBudget(now) });
}

function refusedCode(): RequestError {
  const message = 'linkCode is wrong, used or expired';
  return new RequestError('invalidField', { message, issues: [{ path: 'linkCode', message }] });
}

export type Claim = { claimedBy: string; whatsappId: string };
type Opened = { session: SessionClaims; status: AccountStatus };

/** Creates the user of a number whose claim was signed in with, with its id, and the session. An account that exists by now gets no id. */
export async function openClaimed(
  { db, settings, now }: Call,
  phone: PhoneNumber,
  { claimedBy, whatsappId }: Claim,
): Promise<Opened> {
  const sighting = {
    phone,
    proof: 'claim' as const,
    whatsappId: null,
    assumedWhatsappId: whatsappId,
    contactedAt: now,
    firstWeek: await firstWeek(phone, settings, now),
  };
  const [newUserId, sessionId] = [crypto.randomUUID(), crypto.randomUUID()];
  const isNew = sql`exists (select 1 from ${users} where ${users.id} = ${newUserId})`;
  const owner = sql`from ${users} where ${users.id} = ${userOf('phone', phone)}`;
  const upsert = upsertUser({ ...sighting, id: newUserId }, settings, now)(sql`true`);
  const [create, seen] = openSessionSql(sessionId, now, owner, false);

  const { signedIn } = await batch(db, {
    number: db.run(upsert.number),
    spelling: db.run(upsert.spelling),
    account: db.run(upsert.account),
    identity: db.run(linkClaimed(newUserId, claimedBy, now, isNew)),
    session: db.run(create),
    seen: db.run(seen),
    linkCodes: db.delete(linkCodes).where(eq(linkCodes.phone, phone)),
    counted: db.run(
      countToday({ kind: 'claim' }, now, sql`from ${users} where ${users.id} = ${newUserId}`),
    ),
    signedIn: db
      .select({ userId: users.id, status: users.status })
      .from(users)
      .where(eq(users.id, userOf('phone', phone))),
  });
  const [{ userId, status }] = signedIn as [{ userId: string; status: AccountStatus }];
  return { session: { userId, sessionId }, status };
}
