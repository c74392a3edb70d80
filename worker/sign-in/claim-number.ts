import { and, eq, getTableColumns, gt, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import { aliases, claims, linkCodes, users } from '#db/schema';
import { bindSession } from '../lib/bindings.ts';
import { spellingOf, userOf } from '../identity/identity.ts';
import { ownSpelling, phoneSubjects, type PhoneNumber } from '../identity/phone.ts';
import { openSession, type SessionClaims } from '../identity/user-session.ts';
import { upsertUser } from '../identity/user-record.ts';
import { botTransaction } from '../bot/bot-transaction.ts';
import type { BotCall } from '../bot/incoming-call.ts';
import type { Language } from '../contract/languages.ts';
import type { AccountStatus } from '../contract/schemas.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { countOnDay } from '../lib/daily-totals.ts';
import type { Database } from '../lib/database.ts';
import {
  allowedAt,
  hashedSubject,
  recordEvents,
  subjectsIn,
  type Limited,
  type Subject,
} from '../lib/rate-limits.ts';
import { RequestError, rateLimited } from '../lib/request-error.ts';
import { isIn } from '../lib/sql.ts';
import { dayMs } from '../lib/time.ts';
import { transaction, type Transaction } from '../lib/transaction.ts';
import { sendCode, type Delivery } from '../messaging/whatsapp.ts';
import type { Settings } from '../settings.ts';
import { firstWeek } from '../usage/week.ts';
import { reportCodeBudget, sentToday, untilNextBudget } from './code-budget.ts';
import { claimRow, openNames, tieOf, type SealedClaim } from './claims.ts';
import { limitsOf } from './code-limits.ts';
import { noteMessage } from './code-messages.ts';
import { linkCodeLifetimeMs, newCode } from './code-secrets.ts';
import type { SignInCall } from './issue-code.ts';
import { codeRow, insertCode, removeCode } from './sent-codes.ts';

type Call = {
  db: Database;
  settings: Settings;
  now: number;
  waitUntil: (work: Promise<unknown>) => void;
};

/** SQL: the user of a number who has written to the assistant, or null. */
const writerOf = (phone: PhoneNumber) => sql<string | null>`(
  select ${users.id} from ${users}
  where ${users.id} = ${userOf('phone', phone)} and ${isNotNull(users.contactedAt)})`;

export type LinkState = 'waiting' | 'code_sent' | 'expired';

/**
 * What has happened since the login page showed a link code; `expired` for anybody who does not know the code. A
 * number that has written since gets the code of this login first, so that nobody learns of its message silently.
 */
export async function stateOfLink(
  call: SignInCall & Call,
  phone: PhoneNumber,
  linkCode: string,
): Promise<LinkState> {
  const { db, settings, now } = call;
  const ids = await keyedHashes(settings.CODE_PEPPER, 'challenge', phone, linkCode);
  const { contactedAt } = users;
  const [link] = await db
    .select({
      ...getTableColumns(linkCodes),
      hasWritten: sql<boolean>`${contactedAt} > ${linkCodes.expiresAt} - ${linkCodeLifetimeMs}`,
    })
    .from(linkCodes)
    .leftJoin(users, eq(users.id, userOf('phone', phone)))
    .where(and(inArray(linkCodes.challengeId, ids), gt(linkCodes.expiresAt, now)));

  if (!link) return 'expired';
  if (link.sentBy !== null) return 'code_sent';
  if (!link.hasWritten) return 'waiting';

  const { codesTo, codesFrom, wrongTries } = await limitsOf(call, phone);
  const counted = subjectsIn([...codesTo, ...codesFrom]);
  const language = link.language as Language;
  const limits = [...codesTo, ...wrongTries];
  const outcome = await sendLinkedCode(call, { ...link, language }, { limits, counted });
  return outcome === 'sent' ? 'code_sent' : 'waiting';
}

export type Link = {
  mac: string;
  phone: PhoneNumber;
  whatsappId: string;
  challengeId: string;
  language: Language;
  expiresAt: number;
};

/** A link code whose one-time code was not sent yet. */
const isOpen = (now: number) => and(gt(linkCodes.expiresAt, now), isNull(linkCodes.sentBy))!;

/** Reads the open link code that somebody has sent. */
export async function openLink({ db, settings, now }: Omit<Call, 'address'>, linkCode: string) {
  const macs = await keyedHashes(settings.CODE_PEPPER, 'link-code', linkCode.toUpperCase());
  const { mac, phone, whatsappId, challengeId, language, expiresAt } = linkCodes;
  const link = db
    .select({ mac, phone, whatsappId, challengeId, language, expiresAt })
    .from(linkCodes)
    .where(and(isIn(mac, macs), isOpen(now)));
  return { link };
}

/** SQL: whether a link code is still open. */
const isOpenSql = ({ mac }: Link, now: number) => sql<number>`exists (
  select 1 from ${linkCodes} where ${and(eq(linkCodes.mac, mac), isOpen(now))})`;

const claimLimits = [{ most: 3, per: dayMs }];

/** Sends a number's code for an id that nobody has. Throws 400, 429, or 503: then the link code stays good. */
export async function claimNumber(
  call: Call & { botCall: BotCall },
  businessUserId: string,
  link: Link | undefined,
): Promise<void> {
  if (!link) throw refusedCode();
  const { db, settings, now } = call;
  const { phone } = link;
  const number = await phoneSubjects(settings, phone);
  const hashes = await keyedHashes(settings.CODE_PEPPER, 'limit', businessUserId);
  const claimsOf = hashedSubject('claims', hashes);

  const tx = await botTransaction(call, {
    facts: {
      isOpen: isOpenSql(link, now),
      writer: writerOf(phone),
      owner: userOf('business', businessUserId),
      allowedAt: allowedAt([
        { subject: claimsOf, limits: claimLimits },
        { subject: number.everyCodeTo, limits: settings.LIMIT_CODES_PER_NUMBER_HARD },
        { subject: number.codesTo, limits: settings.LIMIT_CODES_PER_NUMBER },
        { subject: number.wrongTriesAt, limits: settings.LIMIT_WRONG_TRIES_PER_NUMBER },
      ]),
      sent: sentToday(now),
    },
    outcomes: ({ isOpen: open, writer, owner, allowedAt: at, sent }) => ({
      refused: sql`not ${open} or ${writer} is not null or ${owner} is not null`,
      limited: sql`${at} > ${now}`,
      budgetSpent: sql`${sent} >= ${settings.CODE_BUDGET_PER_DAY}`,
    }),
    otherwise: 'claimed',
    forgotten: ['refused', 'limited', 'budgetSpent'],
  });

  const counted = [claimsOf, number.everyCodeTo, number.codesTo];
  const code = newCode();
  const claim = await claimRow(settings, {
    businessUserId,
    phone,
    sentBy: tx.id,
    codeMac: (await codeRow(settings, { phone, code, sentBy: tx.id, now })).mac,
    expiresAt: now + settings.CODE_LIFETIME_SECONDS * 1000,
  });
  await sendByLink(call, tx, ['claimed'], { link, code, claimedBy: claim.mac, counted });
  const { mac: _, ...newest } = claim;
  tx.insert(['claimed'], claims, claim, {
    upsert: { target: [claims.mac], set: newest, where: isNull(claims.provenAt) },
  });
  const { outcome, facts, isFirst } = await tx.apply();

  switch (outcome) {
    case 'refused':
      throw refusedCode();
    case 'limited':
      throw rateLimited(facts.allowedAt, now);
    case 'budgetSpent':
      throw new RequestError('unavailable', { retryAfter: untilNextBudget(now) });
    case 'claimed': {
      // A replay of a call that another request applies: that one sends the code.
      if (!isFirst) return;
      reportCodeBudget(facts.sent + 1, settings.CODE_BUDGET_PER_DAY);
      const to = ownSpelling(phone, link.whatsappId);
      const sent = { code, sentBy: tx.id };
      const { delivery, messageId } = await sendCode(
        { settings, language: link.language },
        to,
        sent,
      );
      if (messageId) {
        const subjects = counted.map(([name]) => name!);
        call.waitUntil(noteMessage(call, { messageId, sentBy: tx.id, phone, subjects }));
      }
      if (delivery === 'taken') return;
      // A message whose response was lost may arrive, so the hard limit of the number keeps counting it.
      const subjects = delivery === 'unknown' ? [claimsOf, number.codesTo] : counted;
      const removals = takeBack(call, { link, sentBy: tx.id, subjects });
      await db.batch([db.run(tx.forget()), ...removals]);
      throw notSent(delivery);
    }
  }
}

/** A refusal of our own credentials is told apart: nobody gets a code until the owner acts. */
const notSent = (delivery: Delivery) =>
  delivery === 'forbidden'
    ? new RequestError('codesUnavailable', { retryAfter: 60 })
    : new RequestError('unavailable', { retryAfter: 1 });

/**
 * Sends the code of a login whose link code the number itself has sent: neither strangers' requests nor its own use up
 * the last codes of its day.
 */
export async function sendReservedCode(call: Call, link: Link): Promise<void> {
  const { everyCodeTo } = await phoneSubjects(call.settings, link.phone);
  const limits = [{ subject: everyCodeTo, limits: call.settings.LIMIT_CODES_PER_NUMBER_HARD }];
  await sendLinkedCode(call, link, { limits, counted: [everyCodeTo] });
}

type Allowed = { limits: Limited[]; counted: Subject[] };

/** Sends the code of a link to a number that has written. Throws 503 if WhatsApp does not take it; then the link code stays good. */
async function sendLinkedCode(call: Call, link: Link, { limits, counted }: Allowed) {
  const { db, settings, now } = call;
  const { phone, language } = link;
  const budget = 2 * settings.CODE_BUDGET_PER_DAY;

  const tx = transaction(db, {
    facts: {
      isOpen: isOpenSql(link, now),
      writer: writerOf(phone),
      allowedAt: allowedAt(limits),
      sent: sentToday(now),
      whatsappId: spellingOf(userOf('phone', phone)),
    },
    outcomes: ({ isOpen: open, writer, allowedAt: at, sent }) => ({
      closed: sql`not ${open} or ${writer} is null`,
      limited: sql`${at} > ${now} or ${sent} >= ${budget}`,
    }),
    otherwise: 'sent',
  });

  const code = newCode();
  await sendByLink(call, tx, ['sent'], { link, code, claimedBy: null, counted });
  const { outcome, facts } = await tx.run();

  if (outcome !== 'sent') return outcome;
  reportCodeBudget(facts.sent + 1, settings.CODE_BUDGET_PER_DAY);
  const to = ownSpelling(phone, facts.whatsappId);
  const sent = { code, sentBy: tx.id };
  const { delivery, messageId } = await sendCode({ settings, language }, to, sent);
  if (messageId) {
    const names = counted.map(([name]) => name!);
    call.waitUntil(noteMessage(call, { messageId, sentBy: tx.id, phone, subjects: names }));
  }
  if (delivery === 'taken') return outcome;
  const subjects = delivery === 'unknown' ? [] : counted;
  const [first, ...rest] = takeBack(call, { link, sentBy: tx.id, subjects });
  await db.batch([first, ...rest]);
  throw notSent(delivery);
}

type ByLink = { link: Link; code: string; claimedBy: string | null; counted: Subject[] };

/** The effects that close a link code and store the code that it brings. */
async function sendByLink<Outcome extends string>(
  { settings, now }: Call,
  tx: Transaction<Outcome, unknown>,
  on: readonly [Outcome, ...Outcome[]],
  { link, code, claimedBy, counted }: ByLink,
): Promise<void> {
  const row = await codeRow(settings, { phone: link.phone, code, sentBy: tx.id, now });
  // A claim signs in by this row, so the row stays as long as the code.
  const expiresAt = Math.max(link.expiresAt, row.expiresAt);

  tx.update(on, linkCodes, { claimedBy, sentBy: tx.id, expiresAt }, eq(linkCodes.mac, link.mac));
  insertCode(tx, on, row, link.challengeId);
  recordEvents(tx, on, counted, { now });
}

/** The statements that open a link code again whose code was not sent. */
function takeBack(
  { db, now }: Call,
  { link, sentBy, subjects }: { link: Link; sentBy: string; subjects: Subject[] },
) {
  return [
    db
      .update(linkCodes)
      .set({ claimedBy: null, sentBy: null, expiresAt: link.expiresAt })
      .where(eq(linkCodes.sentBy, sentBy)),
    db.delete(claims).where(eq(claims.sentBy, sentBy)),
    ...removeCode(db, { phone: link.phone, sentBy, now, subjects: subjects.flat() }),
  ] as const;
}

function refusedCode(): RequestError {
  const message = 'linkCode is wrong, used or expired';
  return new RequestError('invalidField', { message, issues: [{ path: 'linkCode', message }] });
}

export type Claim = { sentBy: string; sealed: SealedClaim | null; whatsappId: string };
type Opened = { session: SessionClaims; status: AccountStatus };

/**
 * Creates the user of a number whose claim was signed in with, and the session. The id of the claim is tied if it is
 * proven, and waits for its proof otherwise; an account that exists by now gets none.
 */
export async function openClaimed(
  call: Pick<Call, 'db' | 'settings' | 'now'> & { device?: string | null },
  phone: PhoneNumber,
  { sentBy, sealed, whatsappId }: Claim,
): Promise<Opened> {
  const { db, settings, now, device } = call;
  const sighting = {
    phone,
    proof: 'claim' as const,
    whatsappId: null,
    assumedWhatsappId: whatsappId,
    contactedAt: now,
    firstWeek: await firstWeek(phone, settings, now),
  };
  const userId = userOf('phone', phone);
  const tx = transaction(db, {
    facts: { before: userId },
    outcomes: ({ before }) => ({ known: isNotNull(before) }),
    otherwise: 'created',
  });

  const newUserId = crypto.randomUUID();
  upsertUser(tx, ['known', 'created'], { ...sighting, id: newUserId }, { settings, now });
  tx.update(['created'], claims, { userId: newUserId }, eq(claims.sentBy, sentBy));
  const businessUserId = sealed && (await openNames(settings, sealed))?.businessUserId;
  if (businessUserId) {
    const { row, from, where } = await tieOf(call, { sentBy, businessUserId, phone });
    tx.insert(['created'], aliases, row, { from, where, upsert: 'ignore' });
    tx.delete(['created'], claims, where);
  }
  const mac = await bindSession(settings, { sessionId: tx.id, phone, isLimited: false });
  openSession(tx, ['known', 'created'], { userId, now, mac, device });
  tx.delete(['known', 'created'], linkCodes, eq(linkCodes.phone, phone));
  countOnDay(tx, ['created'], { kind: 'claim' }, now);

  const { id, status } = users;
  const { reads } = await tx.run({
    signedIn: db.select({ id, status }).from(users).where(eq(users.id, userId)),
  });
  const [user] = reads.signedIn as [{ id: string; status: AccountStatus }];
  return { session: { userId: user.id, sessionId: tx.id }, status: user.status };
}
