import { gt, gte, isNull, not, or } from 'drizzle-orm';
import { spellingOfSql, userOfSql } from '../identity/aliases.ts';
import { ownSpelling, phoneSubjects } from '../identity/phone.ts';
import { allowedAtSql, type Limited, type Subject } from '../lib/rate-limits.ts';
import { transaction } from '../lib/transaction.ts';
import type { Scope } from '../request-scope.ts';
import { reportCodeBudget, sentTodaySql } from './code-budget.ts';
import { sendStoredCode, type StoredCode } from './code-delivery.ts';
import { newCode } from './code-secrets.ts';
import { isOpenSql, type Link, markLinkUsed, undoLink, writerOfSql } from './link-codes.ts';
import { codeRow, orUndone } from './stored-codes.ts';

/**
 * Sends the code of a login whose link code came from the number itself. Only the hard limit
 * holds, and without the reserve of `code-limits.ts`, so that nobody can use up these codes.
 */
export async function sendReservedCode(
  scope: Scope<'db' | 'settings' | 'now' | 'waitUntil'>,
  link: Link,
): Promise<void> {
  const { everyCodeTo } = await phoneSubjects(scope.settings, link.phone);
  const limits = [
    { subject: everyCodeTo, limits: scope.settings.require('LIMIT_CODES_PER_NUMBER_HARD') },
  ];
  await sendLinkedCode(scope, link, { limits, counted: [everyCodeTo] });
}

type Allowed = { limits: Limited[]; counted: Subject[] };

/**
 * Sends the code of a login by its link code. The first condition that holds decides:
 *
 * | outcome   | condition                                             | result      | rows      |
 * | --------- | ----------------------------------------------------- | ----------- | --------- |
 * | `closed`  | the link is used or expired, or no user of its number | `closed`    | none      |
 * |           | has written                                           |             |           |
 * | `limited` | one of `limits` holds, or the codes of today reach    | `limited`   | none      |
 * |           | twice their budget                                    |             |           |
 * | `sent`    | none of these                                         | `sent`, 503 | see below |
 *
 * `sent` writes `link_codes` (used, and kept at least as long as the code); the code, twice in
 * `codes`; the day in `daily_codes`; and `rate_limit_events` for each of `counted`. After the
 * response it writes `code_messages`. If WhatsApp does not take the code, or the response of the database is lost,
 * `undoLink` deletes these rows, opens the link again, and the call fails with 503; the code
 * before stays replaced. If the message may arrive, the events stay, but its code opens nothing.
 * If a status says later that it failed, its code ends and no longer counts (`code-delivery.ts`);
 * the link stays used. Of parallel calls one sends, and the others are `closed`.
 */
export async function sendLinkedCode(
  scope: Scope<'db' | 'settings' | 'now' | 'waitUntil'>,
  link: Link,
  { limits, counted }: Allowed,
) {
  const { db, settings, now } = scope;
  const { phone } = link;
  const budget = 2 * settings.require('CODE_BUDGET_PER_DAY');

  const tx = transaction(db, {
    facts: {
      ...linkFacts(link, now),
      allowedAt: allowedAtSql(limits),
      whatsappId: spellingOfSql(userOfSql('phone', phone)),
    },
    outcomes: ({ isOpen, writerOfNumber, allowedAt: at, codesToday }) => ({
      closed: or(not(isOpen), isNull(writerOfNumber)),
      limited: or(gt(at, now), gte(codesToday, budget)),
    }),
    otherwise: 'sent',
  });

  const code = newCode();
  const row = await codeRow(settings, { phone, code, sentBy: tx.id, now });
  markLinkUsed(tx, ['sent'], { link, row, claimedBy: null, counted });

  const undo = (fate: Fate) =>
    undoLink(scope, {
      link,
      sentBy: tx.id,
      subjects: fate === 'unsent' ? counted : [],
    });

  const sending = tx.run();
  const { outcome, facts } = await orUndone(scope, sending, () => undo('unsent'));

  if (outcome !== 'sent') return outcome;

  const { whatsappId, codesToday } = facts;
  const message = { code, sentBy: tx.id, counted };
  await sendCodeOf(scope, { ...link, whatsappId }, { message, codesToday, undo });
  return outcome;
}

export const linkFacts = (link: Link, now: number) => ({
  isOpen: isOpenSql(link, now),
  writerOfNumber: writerOfSql(link.phone),
  codesToday: sentTodaySql(now),
});

/** What became of the message of a link that is opened again: not sent, or unknown. */
export type Fate = 'unsent' | 'mayArrive';

export type Sending = {
  message: Omit<StoredCode, 'phone' | 'to'>;
  /** Codes of the day before this one. */
  codesToday: number;
  undo: (fate: Fate) => Promise<unknown>;
};

/** Sends the code with which `markLinkUsed` has closed a link. */
export async function sendCodeOf(
  scope: Scope<'db' | 'settings' | 'now' | 'waitUntil'>,
  { phone, language, whatsappId }: Pick<Link, 'phone' | 'language'> & { whatsappId: string | null },
  { message, codesToday, undo }: Sending,
): Promise<void> {
  reportCodeBudget(codesToday + 1, scope.settings.require('CODE_BUDGET_PER_DAY'));
  const to = ownSpelling(phone, whatsappId);
  await sendStoredCode(
    { ...scope, language },
    { phone, to, ...message },
    { undo: () => undo('unsent'), ifLost: { undo: () => undo('mayArrive') } },
  );
}
