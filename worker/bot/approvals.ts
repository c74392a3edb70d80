import { eq, not } from 'drizzle-orm';
import { users } from '#db/schema';
import type { AccountStatus } from '../contract/schemas.ts';
import { columnFact } from '../lib/expressions.ts';
import type { Scope } from '../request-scope.ts';
import type { SignedCall } from './bot-transaction.ts';
import { dropEvent, replaceEvent } from './outbox.ts';
import { applyToPerson, personTransaction, unknownPerson, type Person } from './person.ts';

/** Returns the person's id; throws 404 for an unknown one. */
export async function changeStatus(
  scope: SignedCall & Scope<'settings'>,
  person: Person,
  status: AccountStatus,
): Promise<string> {
  const tx = await personTransaction(scope, person, {
    facts: {
      userId: columnFact<string | null>(users.id),
      before: columnFact<AccountStatus>(users.status),
    },
    outcomes: ({ isKnown, before }) => ({
      unknown: not(isKnown),
      kept: eq(before, status),
    }),
    otherwise: status,
    forgotten: ['unknown'],
  });

  const own = eq(users.id, tx.fact('userId'));
  tx.update(['approved', 'pending'], users, { status }, own);

  const { settings, now } = scope;
  const event = {
    settings,
    type: 'user.approved' as const,
    now,
    who: own,
    data: { status },
  };
  replaceEvent(tx, ['approved'], event);
  dropEvent(tx, ['pending'], event);

  const { outcome, facts } = await applyToPerson(tx);

  if (outcome === 'unknown') throw unknownPerson();
  return facts.userId!;
}
