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
 * The conversation that a call of the bot is about, with facts
 * that a repeated call finds as they were, and what else is read
 * now. Throws 404 for an unknown person, 409 without consent.
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
    forgotten: ['unknown', 'withoutConsent'],
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
