import { and, eq, sql, type SQL } from 'drizzle-orm';
import { users, type User } from '#db/schema';
import { replaceBotEvent } from '../bot/outbox.ts';
import type { Consent } from '../contract/chat-schemas.ts';
import type { Database } from '../lib/database.ts';
import type { Settings } from '../settings.ts';
import { newChatKey } from './chat-encryption.ts';
import { consentOf } from './conversation.ts';

type Context = { db: Database; settings: Settings; now: number };

/**
 * Stores a consent and its time; the version that is in force keeps its first time.
 * `isNew` if the bot should learn of it.
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
  const changing = and(
    eq(users.id, userId),
    eq(users.phone, user.phone),
    sql`${users.chatConsentVersion} is not ${version}`,
  );
  const from = sql`from ${users} where ${changing}`;
  const data = sql`'version', ${version}`;
  const event = replaceBotEvent(settings, 'chat.consent', now, sql`${users.phone}`, data, from);
  await db.batch([
    ...(event.map((statement) => db.run(statement)) as [ReturnType<typeof db.run>]),
    db
      .update(users)
      .set(consented(version, now, fresh))
      .where(changing),
  ]);
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
