import { and, eq } from 'drizzle-orm';
import { withdrawals } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { objectionMs } from './right.ts';
import { objected, openPublicOf, type Statement } from './statements.ts';

/** Made without signing in; its person may still confirm it. */
export const isUnconfirmed = ({ origin, state, userId }: Statement): boolean =>
  origin === 'public' && state === 'received' && userId !== null;

/** Its contract is named when it begins to take effect. */
export const isOpenToObjection = (statement: Statement): boolean =>
  isUnconfirmed(statement) && statement.subscription === null;

/** Instant (unix ms). */
export const objectionUntil = ({ submittedAt }: Pick<Statement, 'submittedAt'>): number =>
  submittedAt + objectionMs;

/**
 * Leaves a statement to the owner, and with it all others that wait: their
 * person was told of one. False if it is not this user's, or has taken
 * effect. Its caller holds the lease, so nothing begins between its two
 * statements.
 */
export async function objectTo(db: Database, id: string, userId: string): Promise<boolean> {
  const open = openPublicOf(userId);
  const named = db
    .select({ id: withdrawals.id })
    .from(withdrawals)
    .where(and(eq(withdrawals.id, id), open));
  if ((await named).length === 0) return false;

  await db
    .update(withdrawals)
    .set({ state: 'needs_owner', reason: objected, dueAt: null })
    .where(open);
  return true;
}
