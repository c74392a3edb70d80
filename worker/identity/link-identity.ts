import { and, eq, inArray, isNotNull, not } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { aliases } from '#db/schema';
import { coalesce, isSame, valueOf } from '../lib/expressions.ts';
import { build, excluded } from '../lib/sql.ts';
import type { On, Transaction } from '../lib/transaction.ts';
import { hasNameSql, userOfSql } from './aliases.ts';
import { isContestedSql } from './contest.ts';
import type { PhoneNumber } from './phone.ts';

type Linked = {
  phone: PhoneNumber;
  businessUserId: string;
  bindingMac: string;
  at: number;
};

export function linkIdentity<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  { phone, businessUserId, bindingMac, at }: Linked,
): void {
  const userOfPhone = userOfSql('phone', phone);
  const userOfId = valueOf(aliases.userId, hasNameSql('business', businessUserId));

  const row = {
    kind: 'business',
    value: businessUserId,
    userId: userOfPhone,
    proof: 'contact',
    at,
    bindingMac,
  } as const;

  const { kind, value, userId, proof, at: since } = aliases;
  const bound = { bindingMac: excluded(aliases.bindingMac) };
  const isTheirOwn = eq(userId, excluded(userId));
  const isRebound = not(isSame(aliases.bindingMac, excluded(aliases.bindingMac)));
  const isTheirs = and(isNotNull(userOfPhone), eq(coalesce(userOfId, userOfPhone), userOfPhone));

  tx.insert(on, aliases, row, {
    where: and(isTheirs, not(isContestedSql(phone))),
    upsert: [
      { target: [kind, value], set: bound, where: and(isTheirOwn, isRebound) },
      {
        target: [userId, kind],
        set: {
          value: excluded(value),
          proof: excluded(proof),
          at: excluded(since),
          ...bound,
        },
        where: eq(aliases.proof, 'earlier-number'),
      },
    ],
  });

  bindNumber(tx, on, { phone, businessUserId, bindingMac });
}

type Bound = Omit<Linked, 'at'>;

export function bindNumber<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  bound: Bound,
): void {
  tx.update(on, aliases, { bindingMac: bound.bindingMac }, unboundNumberOfSql(bound));
}

function unboundNumberOfSql({ phone, businessUserId, bindingMac }: Bound) {
  const business = alias(aliases, 'business');
  const holder = build
    .select({ userId: business.userId })
    .from(business)
    .where(
      and(
        eq(business.kind, 'business'),
        eq(business.value, businessUserId),
        eq(business.bindingMac, bindingMac),
      ),
    );
  const isUnbound = not(isSame(aliases.bindingMac, bindingMac));
  const isTheirs = and(hasNameSql('phone', phone), inArray(aliases.userId, holder));
  return and(isTheirs, isUnbound, not(isContestedSql(phone)));
}
