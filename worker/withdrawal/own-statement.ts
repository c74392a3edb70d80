import { and, desc, eq, isNull, or, type SQL } from 'drizzle-orm';
import { withdrawals, type Withdrawal } from '#db/schema';
import { queueEvent } from '../bot/outbox.ts';
import type { Language } from '../contract/languages.ts';
import { rowExists } from '../lib/expressions.ts';
import { dayMs } from '../lib/time.ts';
import { transaction } from '../lib/transaction.ts';
import type { Scope } from '../request-scope.ts';
import type { ConcludedContract } from './concluded-contract.ts';
import { personsMail } from './queue-receipt-mail.ts';
import { queuedMail } from './receipt-mail.ts';
import { receiptText, type Stated } from './receipt.ts';
import { receivedEvent } from './statement-events.ts';
import { contractColumns, type Recorded, waitingPublicOfSql, unsettled } from './statements.ts';

type OwnStatement = {
  userId: string;
  contact: string;
  email: string | null;
  language: Language;
  now: number;
  /** Null while Stripe does not respond. */
  found: { contract: ConcludedContract; at: number } | null;
};

/**
 * `repeated` (the contract is stated, or a statement of the account waits) writes nothing;
 * `kept` writes `withdrawals`, `withdrawal.received` in `outbox`, and `receipt_mails` if a
 * receipt can be mailed. If another call was first, the statement goes on as `repeatStatement`.
 */
export async function recordOwnStatement(
  { db, settings }: Scope<'db' | 'settings'>,
  { found, now, ...statement }: OwnStatement,
): Promise<Recorded> {
  const stated: Stated = {
    ...unsettled,
    ...statement,
    id: crypto.randomUUID(),
    origin: 'account',
    submittedAt: now,
    keptUntil: now + settings.require('WITHDRAWAL_KEPT_DAYS') * dayMs,
    dueAt: now,
    ...(found && contractColumns(found.contract, found.at)),
  };
  const row: Withdrawal = { ...stated, receipt: receiptText(settings, stated) };
  const own = and(eq(withdrawals.userId, statement.userId), isOpenOrOfSql(found?.contract));

  const { seq: _, ...columns } = row;
  const event = await receivedEvent(settings, row, now);
  const mail = await personsMail(settings, { ...row, now });

  const tx = transaction(db, {
    facts: { isStated: rowExists(withdrawals, own) },
    outcomes: ({ isStated }) => ({ repeated: isStated }),
    otherwise: 'kept',
  });
  // Another account may have stated it.
  tx.insert(['kept'], withdrawals, columns, { upsert: 'ignore' });
  queueEvent(tx, ['kept'], event);

  const kept = db.select().from(withdrawals).where(own).orderBy(desc(withdrawals.seq)).limit(1);
  mail?.queue(tx, ['kept']);
  const { reads } = await tx.run({ kept, queued: queuedMail(db, mail) });

  const [first] = reads.kept as [Withdrawal];
  const isFirst = first.id === row.id;
  if (isFirst || mail === null)
    return {
      statement: first,
      mail: reads.queued[0],
    };
  return repeatStatement({ db, settings }, first, { email: row.email, now });
}

/**
 * A person makes a statement once more, or confirms one that was made
 * without signing in: that one takes effect now, also if Stripe does not
 * respond. The receipt goes to the address that the person gives, and to
 * no other. `confirmed` (it waits) sets `withdrawals.due_at`; both outcomes
 * write `receipt_mails`, unless one went to the address.
 */
export async function repeatStatement(
  { db, settings }: Scope<'db' | 'settings'>,
  statement: Withdrawal,
  { email, now }: { email: string | null; now: number },
): Promise<Recorded> {
  const { id, userId } = statement;
  const mail = await personsMail(settings, { id, email, now });
  const waits = and(eq(withdrawals.id, id), waitingPublicOfSql(userId));

  const tx = transaction(db, {
    facts: { isWaiting: rowExists(withdrawals, waits) },
    outcomes: ({ isWaiting }) => ({ confirmed: isWaiting }),
    otherwise: 'repeated',
  });
  // Not by silence: it is due before the time to object is over.
  const dueAt = withdrawals.submittedAt.getSQL();
  tx.update(['confirmed'], withdrawals, { dueAt }, eq(withdrawals.id, id));
  mail?.queue(tx, ['confirmed', 'repeated']);
  const { reads } = await tx.run({ queued: queuedMail(db, mail) });

  return { statement, mail: reads.queued[0] };
}

function isOpenOrOfSql(contract: ConcludedContract | undefined): SQL | undefined {
  const { subscription, concludedAt, state, origin } = withdrawals;
  const isOpen = and(isNull(subscription), eq(state, 'received'));
  if (!contract) return isOpen;

  return or(
    and(eq(subscription, contract.subscription), eq(concludedAt, contract.concludedAt)),
    and(isOpen, eq(origin, 'account')),
  );
}
