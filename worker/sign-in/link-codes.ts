import { and, eq, gt, isNotNull, isNull, not, type SQL } from 'drizzle-orm';
import { botCalls, claims, linkCodes, users } from '#db/schema';
import type { Language } from '../contract/languages.ts';
import { userOfSql } from '../identity/aliases.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import { keyedHashes } from '../lib/crypto.ts';
import type { Database } from '../lib/database.ts';
import { columnFact, rowExists, valueOf } from '../lib/expressions.ts';
import { recordEvents, type Subject } from '../lib/rate-limits.ts';
import { isIn } from '../lib/sql.ts';
import { transaction, type Transaction, type On } from '../lib/transaction.ts';
import type { Scope } from '../request-scope.ts';
import { isProvenSql } from './claims.ts';
import { insertCode, undoCodeRows, type CodeRow } from './stored-codes.ts';

export const writerOfSql = (phone: PhoneNumber) =>
  valueOf(users.id, and(eq(users.id, userOfSql('phone', phone)), isNotNull(users.contactedAt)));

export type Link = {
  mac: string;
  phone: PhoneNumber;
  whatsappId: string;
  challengeId: string;
  language: Language;
  expiresAt: number;
};

const isOpenNowSql = (now: number) => and(gt(linkCodes.expiresAt, now), isNull(linkCodes.sentBy))!;

export async function readLink(
  { db, settings, now }: Scope<'db' | 'settings' | 'now'>,
  linkCode: string | undefined,
) {
  const macs = linkCode
    ? await keyedHashes(settings.CODE_PEPPER, 'link-code', linkCode.toUpperCase())
    : [];
  return { link: linksOf(db, and(isIn(linkCodes.mac, macs), isOpenNowSql(now))) };
}

export function linksOf(db: Database, condition: SQL | undefined) {
  const { mac, phone, whatsappId, challengeId, language, expiresAt } = linkCodes;
  const ofPage = columnFact<Language>(language);
  const link = {
    mac,
    phone,
    whatsappId,
    challengeId,
    language: ofPage,
    expiresAt,
  };
  return db.select(link).from(linkCodes).where(condition);
}

export const isOpenSql = ({ mac }: Link, now: number) =>
  rowExists(linkCodes, and(eq(linkCodes.mac, mac), isOpenNowSql(now)));

type ByLink = {
  link: Link;
  row: CodeRow;
  claimedBy: string | null;
  counted: Subject[];
};

export function markLinkUsed<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  { link, row, claimedBy, counted }: ByLink,
): void {
  // A claim signs in by this row.
  const expiresAt = Math.max(link.expiresAt, row.expiresAt);

  tx.update(on, linkCodes, { claimedBy, sentBy: tx.id, expiresAt }, eq(linkCodes.mac, link.mac));
  insertCode(tx, on, row, link.challengeId);
  recordEvents(tx, on, counted, { now: row.sentAt });
}

type UndoLinkOptions = {
  link: Link;
  sentBy: string;
  subjects: Subject[];
  /** The bot's call that has claimed the number. */
  stored?: SQL;
};

/**
 * Opens a link code again whose code was not sent, and lets the bot's call claim again. The
 * first condition that holds decides, and is returned:
 *
 * | outcome     | condition                              | rows                                  |
 * | ----------- | -------------------------------------- | ------------------------------------- |
 * | `settled`   | the link, or the bot's call, is not of | none                                  |
 * |             | `sentBy` any more                      |                                       |
 * | `sent`      | the claim is proven, so its code has   | `bot_calls`: `codeSent`               |
 * |             | arrived                                |                                       |
 * | `undone`    | neither                                | `link_codes` is open again;           |
 * |             |                                        | `daily_codes` − 1; `claims`, `codes`, |
 * |             |                                        | `bot_calls` and the events of         |
 * |             |                                        | `subjects` are deleted                |
 */
export async function undoLink(
  { db, now }: Scope<'db' | 'now'>,
  { link, sentBy, subjects, stored }: UndoLinkOptions,
): Promise<'settled' | 'sent' | 'undone'> {
  const ofCode = eq(linkCodes.sentBy, sentBy);
  const tx = transaction(db, {
    facts: {
      isStored: stored ? rowExists(botCalls, stored) : rowExists(linkCodes, ofCode),
      hasArrived: rowExists(claims, isProvenSql(sentBy)),
    },
    outcomes: ({ isStored, hasArrived }) => ({
      settled: not(isStored),
      sent: hasArrived,
    }),
    otherwise: 'undone',
  });

  const { expiresAt } = link;
  tx.update(['undone'], linkCodes, { claimedBy: null, sentBy: null, expiresAt }, ofCode);
  tx.delete(['undone'], claims, eq(claims.sentBy, sentBy));
  undoCodeRows(tx, ['undone'], {
    phone: link.phone,
    sentBy,
    now,
    subjects: subjects.flat(),
  });

  if (stored) {
    tx.update(['sent'], botCalls, { outcome: 'codeSent' }, stored);
    tx.delete(['undone'], botCalls, stored);
  }

  return (await tx.run()).outcome;
}
