import { and, eq, isNotNull, isNull, not, type SQL } from 'drizzle-orm';
import { users, type User } from '#db/schema';
import { replaceEvent } from '../bot/outbox.ts';
import type { Consent } from '../contract/chat-schemas.ts';
import type { Database } from '../lib/database.ts';
import { coalesce, iif, oneRow } from '../lib/expressions.ts';
import { RequestError } from '../lib/request-error.ts';
import { transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import { newChatKey } from './chat-encryption.ts';
import { consentOf } from './conversation.ts';

type Context = { db: Database; settings: Settings; now: number };

/**
 * Stores a consent and its time; the version that is in force keeps its first time. `isNew`
 * if the bot should learn of it. Throws 503 if number or session have changed meanwhile.
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
    from: oneRow([users, own]),
    facts: { isOwn: isNotNull(users.id), known: users.chatConsentVersion.getSQL() },
    outcomes: ({ isOwn, known: before }) => ({ moved: not(isOwn), kept: eq(before, version) }),
    otherwise: 'given',
  });
  const event = { settings, type: 'chat.consent' as const, now, who: own, data: { version } };
  replaceEvent(tx, ['given'], event);
  tx.update(['given'], users, consented(version, now, fresh), own);
  const { outcome, reads } = await tx.run({ after: db.select().from(users).where(own) });

  const [after] = reads.after;
  if (outcome === 'moved' || !after) throw new RequestError('unavailable', { retryAfter: 1 });
  return { consent: consentOf(after)!, isNew: outcome === 'given' };
}

/** Consent counts as the first contact, which `bot/usage` requires. */
function consented(version: string, now: number, fresh: { chatKey: string; chatKeyId: string }) {
  const { chatKey, chatKeyId, contactedAt, renewalAt, weekAnchor, weekStart } = users;
  const isFirstContact = and(isNull(contactedAt), isNull(renewalAt));
  return {
    chatConsentVersion: version,
    chatConsentAt: now,
    chatKey: coalesce<string>(chatKey, fresh.chatKey),
    chatKeyId: iif<string>(isNull(chatKey), fresh.chatKeyId, chatKeyId),
    contactedAt: coalesce<number>(contactedAt, now),
    weekAnchor: iif<number>(isFirstContact, now, weekAnchor),
    weekStart: iif<number>(isFirstContact, now, weekStart),
  };
}
