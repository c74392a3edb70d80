import { and, eq, isNotNull, isNull, type SQL } from 'drizzle-orm';
import { users, withdrawals, type Withdrawal } from '#db/schema';
import { sealData } from '../bot/event-data.ts';
import { insertBotEventSql } from '../bot/outbox.ts';
import { rowExists } from '../lib/expressions.ts';
import type { Settings } from '../settings.ts';
import { receiptForPerson } from './receipt.ts';
import { isUnderWaySql } from './statements.ts';

/** One that takes no effect by itself is not told. */
export async function receivedEvent(settings: Settings, statement: Withdrawal, now: number) {
  const { id } = statement;
  const userId = statement.userId ?? '';
  const type = 'withdrawal.received' as const;
  const receipt = await receiptForPerson(settings, statement);
  const sealed = await sealData(settings, { type, userId }, { receipt });
  const { dueAt } = withdrawals;
  const isKept = rowExists(withdrawals, and(eq(withdrawals.id, id), isNotNull(dueAt)));
  return {
    settings,
    type,
    now,
    who: and(eq(users.id, userId), isKept),
    data: { sealed },
  };
}

export function insertRefundedEventSql(
  settings: Settings,
  statement: Withdrawal,
  now: number,
): SQL {
  const { id, refund: amount, currency } = statement;
  const isFirst = and(eq(withdrawals.id, id), isNull(withdrawals.announcedAt), isUnderWaySql);
  const who = and(eq(users.id, statement.userId ?? ''), rowExists(withdrawals, isFirst));
  const type = 'withdrawal.refunded' as const;
  return insertBotEventSql({
    settings,
    type,
    now,
    who,
    data: { amount, currency },
  });
}
