import { eq, isNotNull, not } from 'drizzle-orm';
import { users } from '#db/schema';
import {
  applyToPerson,
  personTransaction,
  userNamedSql,
  type Person,
  type PersonCall,
} from '../bot/person.ts';
import type { FactsSql, Reads } from '../lib/transaction.ts';
import type { ChatRow } from './chat-keys.ts';
import { requireConversation } from './conversation.ts';

/**
 * The conversation that a call of the bot is about: `facts` are those of the first call; `reads`
 * are read again. The first condition that holds decides:
 *
 * | outcome          | condition                      | response         | rows        |
 * | ---------------- | ------------------------------ | ---------------- | ----------- |
 * | `conflict`       | two people (`bot/person.ts`)   | 409              | see there   |
 * | `unknown`        | nobody has the names           | 404              | none        |
 * | `withoutConsent` | the person has no conversation | 409              | none        |
 * | `found`          | none of these                  | the conversation | `bot_calls` |
 *
 * A repeated call that was `found` throws 404 or 409 if account or consent are gone since.
 */
export async function calledConversation<Facts extends FactsSql, Named extends Reads>(
  scope: PersonCall,
  person: Person,
  { facts, reads }: { facts: Facts; reads: Named },
) {
  const tx = await personTransaction(scope, person, {
    facts: { ...facts, hasChat: isNotNull(users.chatKey) },
    outcomes: ({ isKnown, hasChat }) => ({
      unknown: not(isKnown),
      withoutConsent: not(hasChat),
    }),
    otherwise: 'found',
    unstored: ['unknown', 'withoutConsent'],
  });

  const { id, phone, chatKey, chatKeyId, chatEpoch } = users;
  const user = scope.db
    .select({ id, phone, chatKey, chatKeyId, chatEpoch })
    .from(users)
    .where(eq(users.id, userNamedSql(person)));
  const applied = await applyToPerson(tx, { ...reads, user });
  const [found] = (applied.reads as { user: ChatRow[] }).user;
  return {
    user: requireConversation(found),
    facts: applied.facts,
    reads: applied.reads,
  };
}
