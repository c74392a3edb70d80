import { eq, isNotNull } from 'drizzle-orm';
import { claims, linkCodes, users } from '#db/schema';
import type { AccountStatus } from '../contract/schemas.ts';
import { userOfSql } from '../identity/aliases.ts';
import { isContestedSql } from '../identity/contest.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import { upsertUser } from '../identity/user-record.ts';
import { openSignedIn } from '../identity/open-session.ts';
import { type SessionRef } from '../identity/user-session.ts';
import { countOnDay } from '../lib/daily-totals.ts';
import { transaction } from '../lib/transaction.ts';
import { firstWeek } from '../usage/week.ts';
import type { SessionScope } from '../request-scope.ts';
import { openNames, type SealedClaim, tieClaim } from './claims.ts';

export type Claim = {
  sentBy: string;
  sealed: SealedClaim | null;
  whatsappId: string;
};

type Opened = { session: SessionRef; status: AccountStatus };

/**
 * Signs in to a number after its code was redeemed, which was sent for a claim. The condition
 * decides; both outcomes return a session:
 *
 * | outcome   | condition                    | rows                                               |
 * | --------- | ---------------------------- | -------------------------------------------------- |
 * | `known`   | the number has a user by now | `users`: the contact, and at the first one its     |
 * |           |                              | week; its spelling in `aliases` if it has none     |
 * | `created` | it has none                  | `users`; number and spelling in `aliases`; the day |
 * |           |                              | in `daily_totals`; `claims.user_id`, or, of a      |
 * |           |                              | proven claim, its id in `aliases`, and the claim   |
 * |           |                              | is deleted                                         |
 *
 * Both also write `sessions`, and `users.last_seen_at` if that is an hour old, and delete the
 * `link_codes` of the number; the session is limited where the number is contested. The id of an
 * unproven claim waits for its proof (`proveClaim`); with `known` it is not tied. The code is used
 * up before, so that no parallel call gets here.
 */
export async function openClaimed(
  scope: SessionScope,
  phone: PhoneNumber,
  { sentBy, sealed, whatsappId }: Claim,
): Promise<Opened> {
  const { db, settings, now, device } = scope;
  const sighting = {
    phone,
    proof: 'claim' as const,
    whatsappId: null,
    assumedWhatsappId: whatsappId,
    contactedAt: now,
    firstWeek: await firstWeek(phone, settings, now),
  };

  const userId = userOfSql('phone', phone);
  const tx = transaction(db, {
    facts: { before: userId, isContested: isContestedSql(phone) },
    outcomes: ({ before }) => ({ known: isNotNull(before) }),
    otherwise: 'created',
  });

  const newUserId = crypto.randomUUID();
  upsertUser(tx, ['known', 'created'], { ...sighting, id: newUserId }, { settings, now });
  tx.update(['created'], claims, { userId: newUserId }, eq(claims.sentBy, sentBy));

  const businessUserId = sealed && (await openNames(settings, sealed))?.businessUserId;
  if (businessUserId)
    await tieClaim(tx, ['created'], scope, {
      sentBy,
      businessUserId,
      phone,
    });

  await openSignedIn(tx, ['known', 'created'], {
    userId,
    phone,
    settings,
    now,
    device,
  });
  tx.delete(['known', 'created'], linkCodes, eq(linkCodes.phone, phone));
  countOnDay(tx, ['created'], { kind: 'claim' }, now);

  const { id, status } = users;
  const { reads } = await tx.run({
    signedIn: db.select({ id, status }).from(users).where(eq(users.id, userId)),
  });
  const [user] = reads.signedIn as [{ id: string; status: AccountStatus }];
  return { session: { userId: user.id, sessionId: tx.id }, status: user.status };
}
