import { eq } from 'drizzle-orm';
import { purchaseChoices } from '#db/schema';
import type { ExportSection } from '../identity/user-record.ts';
import { receiptOf } from './receipt.ts';
import { statementsOf } from './statements.ts';

export const exportWithdrawals: ExportSection = async ({ user, db, settings }) => {
  const own = eq(purchaseChoices.userId, user.id);
  const choices = await db.select().from(purchaseChoices).where(own);
  const rows = await statementsOf(db, user.id);
  const statements = rows.map(async (row) => ({
    ...withoutOwner(row),
    receipt: await receiptOf(settings, row),
  }));
  return {
    purchaseChoices: choices.map(withoutOwner),
    withdrawals: await Promise.all(statements),
  };
};

function withoutOwner<Row extends { userId: string | null }>(row: Row) {
  const { userId: _, ...rest } = row;
  return rest;
}
