import { and, asc, inArray, lte, sql } from 'drizzle-orm';
import { withdrawals, type Withdrawal } from '#db/schema';
import { restored } from '../../withdrawal/statements.ts';
import { inBatches, type RestoreStep } from './restore.ts';

const settlesItself: Withdrawal['state'][] = ['received', 'refunding'];

/**
 * An open statement may have been objected to, completed or paid
 * back since. None goes on by itself: the owner looks at Stripe.
 */
export const stopStatements: RestoreStep = {
  name: 'withdrawals',
  async run({ db, until, isDry }) {
    const { seq, state, submittedAt } = withdrawals;
    const isOlder = lte(submittedAt, until);
    const stopped = await db
      .select()
      .from(withdrawals)
      .where(and(inArray(state, [...settlesItself, 'needs_owner']), isOlder))
      .orderBy(asc(seq));
    const where = and(inArray(state, settlesItself), isOlder)!;
    if (!isDry)
      await inBatches(
        db,
        (rows) => sql`update ${withdrawals} set state = 'needs_owner', reason = ${restored},
          due_at = null where ${rows}`,
        { table: sql`${withdrawals}`, where },
      );
    return { done: stopped.map(lineOf), unknown: [] };
  },
};

function lineOf({ seq, submittedAt, origin, state, reason }: Withdrawal): string {
  const which = `statement ${seq} of ${new Date(submittedAt).toISOString()} (${origin})`;
  if (state === 'needs_owner')
    return `${which} waits for you (${reason}): if you have completed it since, complete it again`;
  return `${which} was ${state}: it waits for you; look in Stripe whether its money is back`;
}
