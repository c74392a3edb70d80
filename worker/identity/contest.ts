import { and, eq, not, or, type SQL } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { aliases, users } from '#db/schema';
import { isTrue, rowExists } from '../lib/expressions.ts';
import type { Peppers } from '../lib/secrets.ts';
import { isIn, type Changes } from '../lib/sql.ts';
import type { On, Transaction } from '../lib/transaction.ts';
import { hasNameSql, isOfSql } from './aliases.ts';
import { aliasMacs } from './bindings.ts';
import type { PhoneNumber } from './phone.ts';

/*
 * A number that came with another id than its own may have a new owner: its
 * codes and tokens open limited sessions. Two rows say so, the number's in
 * `aliases` and the user's, and each alone suffices, so that whoever may write
 * one row ends no contest. What ends it is the id that the number is bound to
 * by our key, and meanwhile no other is bound; or a change of the number.
 */

const saysAlias = eq(aliases.proof, 'contested');
const saysUser = eq(users.isContested, true);

export const isContestedSql = (phone: PhoneNumber): SQL<number> =>
  isTrue(
    or(
      rowExists(aliases, and(hasNameSql('phone', phone), saysAlias)),
      rowExists(users, and(eq(users.phone, phone), saysUser)),
    ),
  );

/** SQL over a row of `users`. */
export const isAccountContestedSql: SQL<number> = isTrue(
  or(saysUser, rowExists(aliases, and(isOfSql('phone', users.id), saysAlias))),
);

export function beginContest<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  userId: SQL,
  at: number,
): void {
  const isUncontestedNumber = and(isOfSql('phone', userId), not(saysAlias));
  tx.update(on, aliases, { proof: 'contested', at }, isUncontestedNumber);
  tx.update(on, users, { isContested: true }, and(eq(users.id, userId), not(saysUser)));
}

type Update = <Table extends SQLiteTable>(
  table: Table,
  set: Changes<Table>,
  where: SQL | undefined,
) => void;

type Written = {
  phone: PhoneNumber;
  businessUserId: string;
  settings: Peppers;
  at: number;
};

/** An id has written: if the number is bound to it, it has no new owner. */
export async function endContest(
  { phone, businessUserId, settings, at }: Written,
  update: Update,
): Promise<void> {
  const macs = await aliasMacs(settings, businessUserId, phone);
  const isBound = and(hasNameSql('phone', phone), isIn(aliases.bindingMac, macs));
  update(aliases, { proof: 'contact', at }, and(isBound, saysAlias));

  const isOfUser = and(eq(users.phone, phone), saysUser, rowExists(aliases, isBound));
  update(users, { isContested: false }, isOfUser);
}
