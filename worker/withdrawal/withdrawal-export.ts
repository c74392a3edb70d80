import { eq } from 'drizzle-orm';
import { purchaseChoices, type Withdrawal } from '#db/schema';
import type { ExportSection } from '../identity/user-record.ts';
import { receiptOf } from './receipt.ts';
import { statementsOf } from './statements.ts';

export const exportWithdrawals: ExportSection = async ({ user, db, settings }) => {
  const own = eq(purchaseChoices.userId, user.id);
  const choices = await db.select().from(purchaseChoices).where(own);
  const rows = await statementsOf(db, user.id);
  const statements = rows.map(async (row) => ({
    ...withoutAddress(withoutOurs(row)),
    receipt: await receiptOf(settings, row),
  }));
  return {
    purchaseChoices: choices.map(withoutOurs),
    withdrawals: await Promise.all(statements),
  };
};

/** Running numbers would tell how many there are. */
function withoutOurs<
  Row extends {
    userId: string | null;
    seq: number;
  },
>(row: Row) {
  const { userId: _, seq: _seq, ...rest } = row;
  return rest;
}

function withoutAddress({ email, ...rest }: Omit<Withdrawal, 'userId' | 'seq'>) {
  return rest.origin === 'public' ? rest : { ...rest, email };
}
