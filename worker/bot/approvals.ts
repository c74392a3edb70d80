import { eq, not } from 'drizzle-orm';
import { users } from '#db/schema';
import type { AccountStatus } from '../contract/schemas.ts';
import { columnFact } from '../lib/expressions.ts';
import type { Scope } from '../request-scope.ts';
import type { SignedCall } from './bot-transaction.ts';
import { dropEvent, replaceEvent } from './outbox.ts';
import { applyToPerson, personTransaction, unknownPerson, type Person } from './person.ts';

/**
 * Returns the person's id. The first condition that holds decides:
 *
 * | outcome    | condition                  | result | rows                                   |
 * | ---------- | -------------------------- | ------ | -------------------------------------- |
 * | `conflict` | two people (`person.ts`)   | 409    | see there                              |
 * | `unknown`  | nobody has the names       | 404    | none                                   |
 * | `kept`     | the account has the status | id     | `bot_calls`                            |
 * | `approved` | it is to be approved       | id     | `bot_calls`; `users.status`; in        |
 * |            |                            |        | `outbox` a `user.approved` replaces    |
 * |            |                            |        | one that waits                         |
 * | `pending`  | it is to wait              | id     | `bot_calls`; `users.status`; a waiting |
 * |            |                            |        | `user.approved` goes                   |
 *
 * If it is to wait, also after `kept`, `endpoints/bot.ts` ends the streams of the account. The
 * same call again writes nothing, and ends them again.
 */
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
    unstored: ['unknown'],
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
