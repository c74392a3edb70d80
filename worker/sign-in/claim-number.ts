import {
  and,
  eq,
  getTableColumns,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  not,
  or,
  type SQL,
} from 'drizzle-orm';
import { botCalls, claims, linkCodes, users } from '#db/schema';
import { spellingOf, userOf } from '../identity/identity.ts';
import { ownSpelling, phoneSubjects, type PhoneNumber } from '../identity/phone.ts';
import { openSignedIn, type SessionClaims } from '../identity/user-session.ts';
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
import { isTrue, minus, rowExists, valueOf } from '../lib/expressions.ts';
import { isIn } from '../lib/sql.ts';
import { dayMs, pause } from '../lib/time.ts';
import { transaction, type Transaction } from '../lib/transaction.ts';
import { sendCode, sendingMs, type Delivery } from '../messaging/whatsapp.ts';
import type { Settings } from '../settings.ts';
import { firstWeek } from '../usage/week.ts';
import { reportCodeBudget, sentToday, untilNextBudget } from './code-budget.ts';
import { claimRow, isProven, openNames, tieClaim, type SealedClaim } from './claims.ts';
import { limitsOf } from './code-limits.ts';
import { noteMessage } from './code-messages.ts';
import { linkCodeLifetimeMs, newCode } from './code-secrets.ts';
import type { SignInCall } from './issue-code.ts';
import { codeRow, insertCode, orTakenBack, removeCode } from './sent-codes.ts';

type Call = {
  db: Database;
  settings: Settings;
  now: number;
  waitUntil: (work: Promise<unknown>) => void;
};

/** SQL: the user of a number who has written to the assistant, or null. */
const writerOf = (phone: PhoneNumber) =>
  valueOf(users.id, and(eq(users.id, userOf('phone', phone)), isNotNull(users.contactedAt)));

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
  const shownAt = minus(linkCodes.expiresAt, linkCodeLifetimeMs);
  const [link] = await db
    .select({ ...getTableColumns(linkCodes), hasWritten: isTrue(gt(users.contactedAt, shownAt)) })
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
  return { link: linksOf(db, and(isIn(linkCodes.mac, macs), isOpen(now))) };
}

function linksOf(db: Database, condition: SQL | undefined) {
  const { mac, phone, whatsappId, challengeId, language, expiresAt } = linkCodes;
  const link = { mac, phone, whatsappId, challengeId, language, expiresAt };
  return db.select(link).from(linkCodes).where(condition);
}

/** SQL: whether a link code is still open. */
const isOpenSql = ({ mac }: Link, now: number) =>
  rowExists(linkCodes, and(eq(linkCodes.mac, mac), isOpen(now)));

const claimLimits = [{ most: 3, per: dayMs }];

/** Sends a number's code for an id that nobody has. Throws 400, 429, or 503: then the link code stays good. */
export async function claimNumber(
  call: Call & { botCall: BotCall },
  businessUserId: string,
  link: Link | undefined,
): Promise<void> {
  if (!link) throw refusedLinkCode();
  const { db, settings, now } = call;
  const { phone } = link;
  const [claimsOf, number] = await subjectsOf(settings, businessUserId, phone);

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
      refused: or(not(open), isNotNull(writer), isNotNull(owner)),
      limited: gt(at, now),
      budgetSpent: gte(sent, settings.CODE_BUDGET_PER_DAY),
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
  const own = and(isIn(botCalls.id, await call.botCall.storedIds()), eq(botCalls.by, tx.id))!;
  const forget = (subjects: Subject[]) =>
    takeBack(call, { link, sentBy: tx.id, subjects, stored: own });
  const applied = await orTakenBack(call, tx.apply(), () => forget(counted));
  const { outcome, facts, isFirst, row } = applied;

  switch (outcome) {
    case 'refused':
      throw refusedLinkCode();
    case 'limited':
      throw rateLimited(facts.allowedAt, now);
    case 'budgetSpent':
      throw new RequestError('unavailable', { retryAfter: untilNextBudget(now) });
    case 'claimed': {
      if (!isFirst) return settleClaim(call, businessUserId, row.by);
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
      if (delivery === 'taken') return call.waitUntil(noteSent(db, own));
      // A message whose response was lost may arrive, so the hard limit of the number keeps counting it.
      await forget(delivery === 'unknown' ? [claimsOf, number.codesTo] : counted);
      throw notSent(delivery);
    }
  }
}

/** Notes after the response that the code was sent. */
async function noteSent(db: Database, own: SQL | undefined): Promise<void> {
  await pause(0);
  await db.update(botCalls).set({ outcome: 'codeSent' }).where(own);
}

const looksEveryMs = 250;

/**
 * A claim whose decision is stored: the request that has made it may be sending the code, or was
 * ended before. Then the code is taken back, and this call claims the number; one that a status
 * has proven was sent.
 */
export async function settleClaim(
  call: Call & { botCall: BotCall },
  businessUserId: string,
  sentBy: string,
): Promise<void> {
  const { db, settings, botCall } = call;
  const own = and(isIn(botCalls.id, await botCall.storedIds()), eq(botCalls.by, sentBy))!;
  const isUnsent = and(own, eq(botCalls.outcome, 'claimed'))!;
  const [link] = (await linksOf(db, eq(linkCodes.sentBy, sentBy))) as Link[];
  let at: number | undefined;
  for (let waited = 0; waited < sendingMs; waited += looksEveryMs) {
    const hasArrived = rowExists(claims, isProven(sentBy));
    const [stored] = await db
      .select({ at: botCalls.at, hasArrived })
      .from(botCalls)
      .where(isUnsent);
    if (!stored) return;
    at = stored.at;
    if (stored.hasArrived) break;
    await pause(looksEveryMs);
  }
  if (at === undefined || !link) return;

  const [claimsOf, number] = await subjectsOf(settings, businessUserId, link.phone);
  // Its message may have been sent, so the hard limit of the number keeps counting it.
  const subjects = [claimsOf, number.codesTo];
  const outcome = await takeBack({ db, now: at }, { link, sentBy, subjects, stored: isUnsent });
  if (outcome === 'takenBack') await claimNumber(call, businessUserId, link);
}

/** What limits claims, and the codes of a number. */
async function subjectsOf(settings: Settings, businessUserId: string, phone: PhoneNumber) {
  const hashes = await keyedHashes(settings.CODE_PEPPER, 'limit', businessUserId);
  return [hashedSubject('claims', hashes), await phoneSubjects(settings, phone)] as const;
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
      closed: or(not(open), isNull(writer)),
      limited: or(gt(at, now), gte(sent, budget)),
    }),
    otherwise: 'sent',
  });

  const code = newCode();
  await sendByLink(call, tx, ['sent'], { link, code, claimedBy: null, counted });
  const takeAllBack = (subjects: Subject[]) => takeBack(call, { link, sentBy: tx.id, subjects });
  const { outcome, facts } = await orTakenBack(call, tx.run(), () => takeAllBack(counted));

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
  await takeAllBack(delivery === 'unknown' ? [] : counted);
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

type Unsent = {
  link: Link;
  sentBy: string;
  subjects: Subject[];
  /** The bot's call that has claimed the number. */
  stored?: SQL;
};

/**
 * Opens a link code again whose code was not sent, and lets the bot's call claim again. Nothing is taken back of a
 * claim that a status has proven: its code has arrived.
 */
async function takeBack(
  { db, now }: Pick<Call, 'db' | 'now'>,
  { link, sentBy, subjects, stored }: Unsent,
): Promise<'settled' | 'sent' | 'takenBack'> {
  const ofCode = eq(linkCodes.sentBy, sentBy);
  const tx = transaction(db, {
    facts: {
      isStored: stored ? rowExists(botCalls, stored) : rowExists(linkCodes, ofCode),
      hasArrived: rowExists(claims, isProven(sentBy)),
    },
    outcomes: ({ isStored, hasArrived }) => ({ settled: not(isStored), sent: hasArrived }),
    otherwise: 'takenBack',
  });

  const { expiresAt } = link;
  tx.update(['takenBack'], linkCodes, { claimedBy: null, sentBy: null, expiresAt }, ofCode);
  tx.delete(['takenBack'], claims, eq(claims.sentBy, sentBy));
  removeCode(tx, ['takenBack'], { phone: link.phone, sentBy, now, subjects: subjects.flat() });
  if (stored) {
    tx.update(['sent'], botCalls, { outcome: 'codeSent' }, stored);
    tx.delete(['takenBack'], botCalls, stored);
  }
  return (await tx.run()).outcome;
}

function refusedLinkCode(): RequestError {
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
  if (businessUserId) await tieClaim(tx, ['created'], call, { sentBy, businessUserId, phone });
  await openSignedIn(tx, ['known', 'created'], { userId, phone, settings, now, device });
  tx.delete(['known', 'created'], linkCodes, eq(linkCodes.phone, phone));
  countOnDay(tx, ['created'], { kind: 'claim' }, now);

  const { id, status } = users;
  const { reads } = await tx.run({
    signedIn: db.select({ id, status }).from(users).where(eq(users.id, userId)),
  });
  const [user] = reads.signedIn as [{ id: string; status: AccountStatus }];
  return { session: { userId: user.id, sessionId: tx.id }, status: user.status };
}
