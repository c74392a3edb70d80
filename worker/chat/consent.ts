import { and, eq, not, sql, type SQL } from 'drizzle-orm';
import { users, type User } from '#db/schema';
import { replaceBotEvent } from '../bot/outbox.ts';
import type { Consent } from '../contract/chat-schemas.ts';
import type { Database } from '../lib/database.ts';
import { transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import { newChatKey } from './chat-encryption.ts';
import { consentOf } from './conversation.ts';

type Context = { db: Database; settings: Settings; now: number };

/**
 * Stores a consent and its time; the version that is in force
 * keeps its first time. `isNew` if the bot should learn of it.
 */
export async function giveConsent(
  { db, settings, now }: Context,
  user: User,
  userId: SQL,
  version: string,
): Promise<{ consent: Consent; isNew: boolean }> {
  const known = consentOf(user);
  if (known?.version === version) return { consent: known, isNew: false };

  // The number is read first, since the key is bound to it.
  const fresh = await newChatKey(settings, user);
  const own = and(eq(users.id, userId), eq(users.phone, user.phone));
  const tx = transaction(db, {
    from: sql`(select 1) left join ${users} on ${own}`,
    facts: {
      isOwn: sql<number>`${users.id} is not null`,
      known: users.chatConsentVersion.getSQL(),
    },
    outcomes: ({ isOwn, known: before }) => ({ moved: not(isOwn), kept: eq(before, version) }),
    otherwise: 'given',
  });
  tx.write(['given'], (holds) => {
    const data = sql`'version', ${version}`;
    const theirs = sql`from ${users} where ${and(own, holds)}`;
    return replaceBotEvent(settings, 'chat.consent', now, sql`${users.phone}`, data, theirs);
  });
  tx.update(['given'], users, consented(version, now, fresh), own);
  await tx.run();

  return { consent: { version, at: new Date(now).toISOString() }, isNew: true };
}

/** Consent counts as the first contact, which `bot/usage` requires. */
function consented(version: string, now: number, fresh: { chatKey: string; chatKeyId: string }) {
  const { chatKey, chatKeyId, contactedAt, renewalAt, weekAnchor, weekStart } = users;
  const isFirstContact = sql`${contactedAt} is null and ${renewalAt} is null`;
  return {
    chatConsentVersion: version,
    chatConsentAt: now,
    chatKey: sql`coalesce(${chatKey}, ${fresh.chatKey})`,
    chatKeyId: sql`case when ${chatKey} is null then ${fresh.chatKeyId} else ${chatKeyId} end`,
    contactedAt: sql`coalesce(${contactedAt}, ${now})`,
    weekAnchor: sql`case when ${isFirstContact} then ${now} else ${weekAnchor} end`,
    weekStart: sql`case when ${isFirstContact} then ${now} else ${weekStart} end`,
  };
}
