import { and, eq, gt, gte, isNotNull, isNull, not, or, type SQL } from 'drizzle-orm';
import { botCalls, claims, linkCodes } from '#db/schema';
import { botTransaction } from '../bot/bot-transaction.ts';
import type { BotCall } from '../bot/signed-call.ts';
import { userOf } from '../identity/aliases.ts';
import { ownSpelling, type PhoneNumber, phoneSubjects } from '../identity/phone.ts';
import { keyedHashes } from '../lib/crypto.ts';
import type { Database } from '../lib/database.ts';
import { rowExists } from '../lib/expressions.ts';
import { allowedAt, hashedSubject, type Subject } from '../lib/rate-limits.ts';
import { rateLimited, RequestError } from '../lib/request-error.ts';
import { isIn } from '../lib/sql.ts';
import { dayMs, pause } from '../lib/time.ts';
import type { Transaction } from '../lib/transaction.ts';
import { sendingMs } from '../messaging/whatsapp.ts';
import type { Scope } from '../request-scope.ts';
import type { Settings } from '../settings.ts';
import { claimRow, isProven } from './claims.ts';
import { reportCodeBudget, sentToday, untilNextBudget } from './code-budget.ts';
import { sendStoredCode } from './code-delivery.ts';
import { newCode } from './code-secrets.ts';
import { isOpenSql, type Link, linksOf, closeLink, reopenLink, writerOf } from './link-codes.ts';
import { codeRow, orTakenBack, type CodeRow } from './stored-codes.ts';

const claimLimits = [{ most: 3, per: dayMs }];

/** Sends a code for an id that nobody has. After 503 the link stays good. */
export async function claimNumber(
  scope: Scope<'db' | 'settings' | 'now' | 'waitUntil'> & { botCall: BotCall },
  businessUserId: string,
  link: Link | undefined,
): Promise<void> {
  if (!link) throw refusedLinkCode();
  const { db, settings, now } = scope;
  const { phone } = link;
  const [claimsOf, number] = await subjectsOf(settings, businessUserId, phone);

  const tx = await botTransaction(scope, {
    facts: {
      isOpen: isOpenSql(link, now),
      writer: writerOf(phone),
      holder: userOf('business', businessUserId),
      allowedAt: allowedAt([
        { subject: claimsOf, limits: claimLimits },
        { subject: number.everyCodeTo, limits: settings.require('LIMIT_CODES_PER_NUMBER_HARD') },
        { subject: number.codesTo, limits: settings.require('LIMIT_CODES_PER_NUMBER') },
        { subject: number.wrongTriesAt, limits: settings.require('LIMIT_WRONG_TRIES_PER_NUMBER') },
      ]),
      sent: sentToday(now),
    },
    outcomes: ({ isOpen, writer, holder, allowedAt: at, sent }) => ({
      refused: or(not(isOpen), isNotNull(writer), isNotNull(holder)),
      limited: gt(at, now),
      budgetSpent: gte(sent, settings.require('CODE_BUDGET_PER_DAY')),
    }),
    otherwise: 'claimed',
    forgotten: ['refused', 'limited', 'budgetSpent'],
    others: ['codeSent', 'ofId'],
  });

  const counted = [claimsOf, number.everyCodeTo, number.codesTo];
  const code = newCode();
  const row = await codeRow(settings, {
    phone,
    code,
    sentBy: tx.id,
    now,
  });
  const claim = await storeClaim(settings, tx, { businessUserId, row });
  closeLink(tx, ['claimed'], {
    link,
    row,
    claimedBy: claim.mac,
    counted,
  });
  const own = and(isIn(botCalls.id, await scope.botCall.storedIds()), eq(botCalls.by, tx.id))!;
  const takeBack = (subjects: Subject[]) =>
    reopenLink(scope, { link, sentBy: tx.id, subjects, stored: own });
  const applied = await orTakenBack(scope, tx.apply(), () => takeBack(counted));
  const { outcome, facts, isFirst } = applied;

  switch (outcome) {
    case 'codeSent':
    // By now the id has a user: the same call, sent again meanwhile, is a contact.
    case 'ofId':
      return;
    case 'refused':
      throw refusedLinkCode();
    case 'limited':
      throw rateLimited(facts.allowedAt, now);
    case 'budgetSpent':
      throw new RequestError('unavailable', { retryAfter: untilNextBudget(now) });
    case 'claimed': {
      if (!isFirst) return settleClaim(scope, businessUserId, applied.by);
      reportCodeBudget(facts.sent + 1, settings.require('CODE_BUDGET_PER_DAY'));
      const to = ownSpelling(phone, link.whatsappId);
      const message = { phone, to, code, sentBy: tx.id, counted };
      await sendStoredCode({ ...scope, language: link.language }, message, {
        takeBack: () => takeBack(counted),
        // The hard limit counts a message that may arrive.
        ifLost: { takeBack: () => takeBack([claimsOf, number.codesTo]) },
      });
      scope.waitUntil(noteSent(db, own));
    }
  }
}

type Claiming = { businessUserId: string; row: CodeRow };

/** A newer claim of an id replaces one that is not proven. */
async function storeClaim<Outcome extends string>(
  settings: Settings,
  tx: Transaction<Outcome | 'claimed', unknown>,
  { businessUserId, row }: Claiming,
) {
  const { phone, mac: codeMac, expiresAt } = row;
  const claim = await claimRow(settings, {
    businessUserId,
    phone,
    sentBy: tx.id,
    codeMac,
    expiresAt,
  });
  const { mac: _, ...newest } = claim;
  const upsert = {
    target: [claims.mac],
    set: newest,
    where: isNull(claims.provenAt),
  };
  tx.insert(['claimed'], claims, claim, { upsert });
  return claim;
}

async function noteSent(db: Database, own: SQL | undefined): Promise<void> {
  await pause(0);
  await db.update(botCalls).set({ outcome: 'codeSent' }).where(own);
}

const looksEveryMs = 250;

/**
 * A claim whose decision is stored: the request that has made it may be
 * sending the code, or was ended before. Then the code is taken back, and
 * this call claims the number; one that a status has proven was sent.
 */
export async function settleClaim(
  scope: Scope<'db' | 'settings' | 'now' | 'waitUntil'> & { botCall: BotCall },
  businessUserId: string,
  sentBy: string,
): Promise<void> {
  const { db, settings, botCall } = scope;
  const own = and(isIn(botCalls.id, await botCall.storedIds()), eq(botCalls.by, sentBy))!;
  const isUnsent = and(own, eq(botCalls.outcome, 'claimed'))!;
  const [link] = await linksOf(db, eq(linkCodes.sentBy, sentBy));
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
  // Its message may have been sent: the hard limit counts it.
  const subjects = [claimsOf, number.codesTo];
  const outcome = await reopenLink(
    { db, now: at },
    {
      link,
      sentBy,
      subjects,
      stored: isUnsent,
    },
  );
  if (outcome === 'takenBack') await claimNumber(scope, businessUserId, link);
}

async function subjectsOf(settings: Settings, businessUserId: string, phone: PhoneNumber) {
  const hashes = await keyedHashes(settings.CODE_PEPPER, 'limit', businessUserId);
  return [hashedSubject('claims', hashes), await phoneSubjects(settings, phone)] as const;
}

function refusedLinkCode(): RequestError {
  const message = 'linkCode is wrong, used or expired';
  return new RequestError('invalidField', { message, issues: [{ path: 'linkCode', message }] });
}
