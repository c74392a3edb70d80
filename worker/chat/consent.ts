import { and, asc, desc, eq, gt, isNotNull, isNull, not, type SQL } from 'drizzle-orm';
import { consents, users, type User } from '#db/schema';
import { replaceEvent } from '../bot/outbox.ts';
import type { Consent } from '../contract/chat-schemas.ts';
import type { ExportSection } from '../identity/user-record.ts';
import { coalesce, iif, oneRow, plus } from '../lib/expressions.ts';
import { rateLimited, RequestError } from '../lib/request-error.ts';
import { build } from '../lib/sql.ts';
import { dayMs } from '../lib/time.ts';
import { transaction } from '../lib/transaction.ts';
import type { Scope } from '../request-scope.ts';
import { newChatKey } from './chat-keys.ts';
import { consentOf } from './conversation.ts';

const mostGivenPerDay = 20;

/**
 * Stores a consent and its time; the version that is in force keeps its first time, and writes
 * nothing. Otherwise the first condition that holds decides:
 *
 * | outcome   | condition                   | result               | rows                 |
 * | --------- | --------------------------- | -------------------- | -------------------- |
 * | `moved`   | number or session have      | 503                  | none                 |
 * |           | changed since they were     |                      |                      |
 * |           | read                        |                      |                      |
 * | `kept`    | a parallel call has stored  | the consent          | none                 |
 * |           | the version                 |                      |                      |
 * | `limited` | the account has given 20 in | 429                  | none                 |
 * |           | a day                       |                      |                      |
 * | `given`   | none of these               | the consent, `isNew` | `consents`; `users`; |
 * |           |                             |                      | `outbox`             |
 *
 * `given` writes into `users` the consent, a chat key if there is none, and a first contact, if
 * there was none, with its week unless a plan is paid. In `outbox` a `chat.consent` replaces one
 * that waits, unless there is no bot.
 */
export async function giveConsent(
  { db, settings, now }: Scope<'db' | 'settings' | 'now'>,
  user: User,
  userId: SQL,
  version: string,
): Promise<{ consent: Consent; isNew: boolean }> {
  const known = consentOf(user);
  if (known?.version === version) return { consent: known, isNew: false };

  const fresh = await newChatKey(settings, user);
  const own = and(eq(users.id, userId), eq(users.phone, user.phone));
  const tx = transaction(db, {
    from: oneRow([users, own]),
    facts: {
      isOwn: isNotNull(users.id),
      known: users.chatConsentVersion.getSQL(),
      allowedAt: consentAllowedAtSql(userId),
    },

    outcomes: (facts) => ({
      moved: not(facts.isOwn),
      kept: eq(facts.known, version),
      limited: gt(facts.allowedAt, now),
    }),
    otherwise: 'given',
  });

  const event = {
    settings,
    type: 'chat.consent' as const,
    now,
    who: own,
    data: { version },
  };
  replaceEvent(tx, ['given'], event);
  tx.update(['given'], users, consented(version, now, fresh), own);

  const row = {
    userId: users.id.getSQL(),
    version,
    givenAt: now,
  };
  tx.insert(['given'], consents, row, { from: users, where: own! });

  const after = db.select().from(users).where(own);
  const { outcome, facts, reads } = await tx.run({ after });

  const [present] = reads.after;
  if (outcome === 'moved' || !present) throw new RequestError('unavailable', { retryAfter: 1 });
  if (outcome === 'limited') throw rateLimited(facts.allowedAt, now);
  return { consent: consentOf(present)!, isNew: outcome === 'given' };
}

/** SQL: unix ms; 0 for now. */
function consentAllowedAtSql(userId: SQL): SQL<number> {
  const nth = build
    .select({ at: consents.givenAt })
    .from(consents)
    .where(eq(consents.userId, userId))
    .orderBy(desc(consents.givenAt))
    .limit(1)
    .offset(mostGivenPerDay - 1);
  return coalesce<number>(plus(nth, dayMs), 0);
}

/** Consent counts as the first contact, without which `bot/usage` refuses. */
function consented(
  version: string,
  now: number,
  fresh: {
    chatKey: string;
    chatKeyId: string;
  },
) {
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

export const exportConsents: ExportSection = async ({ user, db }) => {
  const { version, givenAt, withdrawnAt } = consents;
  return {
    consents: await db
      .select({ version, givenAt, withdrawnAt })
      .from(consents)
      .where(eq(consents.userId, user.id))
      .orderBy(asc(givenAt)),
  };
};
