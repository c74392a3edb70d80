import { gt, gte, isNull, not, or } from 'drizzle-orm';
import { spellingOfSql, userOfSql } from '../identity/aliases.ts';
import { ownSpelling, phoneSubjects } from '../identity/phone.ts';
import { allowedAtSql, type Limited, type Subject } from '../lib/rate-limits.ts';
import { transaction } from '../lib/transaction.ts';
import type { Scope } from '../request-scope.ts';
import { reportCodeBudget, sentTodaySql } from './code-budget.ts';
import { sendStoredCode, type StoredCode } from './code-delivery.ts';
import { newCode } from './code-secrets.ts';
import { isOpenSql, type Link, closeLink, undoLink, writerOfSql } from './link-codes.ts';
import { codeRow, orUndone } from './stored-codes.ts';

/**
 * Sends the code of a login whose link code the number itself has sent:
 * neither strangers' requests nor its own use up the last codes of its
 * day.
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
    outcomes: ({ isOpen, writer, allowedAt: at, codesToday }) => ({
      closed: or(not(isOpen), isNull(writer)),
      limited: or(gt(at, now), gte(codesToday, budget)),
    }),
    otherwise: 'sent',
  });

  const code = newCode();
  const row = await codeRow(settings, { phone, code, sentBy: tx.id, now });
  closeLink(tx, ['sent'], { link, row, claimedBy: null, counted });

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
  writer: writerOfSql(link.phone),
  codesToday: sentTodaySql(now),
});

/** Of the message, once the link is to be open again. */
type Fate = 'unsent' | 'mayArrive';

export type Sending = {
  message: Omit<StoredCode, 'phone' | 'to'>;
  /** Without this one. */
  codesToday: number;
  undo: (fate: Fate) => Promise<unknown>;
};

/** Sends the code with which `closeLink` has closed a link. */
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
