import { eq, gt } from 'drizzle-orm';
import { users } from '#db/schema';
import type { UserSession } from '../identity/user-session.ts';
import { replaceEvent } from '../bot/outbox.ts';
import type { Scope } from '../request-scope.ts';

type Platform = (typeof users.$inferSelect)['platform'];

/**
 * Stores where a user talks with Solace. The time of the request is the version of the choice.
 * The first condition that holds decides:
 *
 * | outcome   | condition                  | response       | rows                             |
 * | --------- | -------------------------- | -------------- | -------------------------------- |
 * | `late`    | a later request has chosen | the stored one | none                             |
 * | `kept`    | it is the stored one       | it             | `users.platform_chosen_at`       |
 * | `changed` | none of these              | it             | `users`; a `platform.changed` in |
 * |           |                            |                | `outbox` replaces one that waits |
 *
 * Of parallel calls the latest one holds; the bot is told after the response of a `changed` one.
 */
export function choosePlatform<T>(
  { session, settings, now }: Scope<'settings' | 'now'> & { session: UserSession },
  platform: Platform,
  respond: (chosen: { userId: string; platform: Platform; isNew: boolean }) => T,
) {
  const own = eq(users.id, session.tokenUserId);

  return session.decide({
    facts: {
      before: users.platform.getSQL(),
      chosenAt: users.platformChosenAt.getSQL(),
    },

    outcomes: ({ before, chosenAt }) => ({
      late: gt(chosenAt, now),
      kept: eq(before, platform),
    }),
    otherwise: 'changed',

    effects: (tx) => {
      tx.update(['kept', 'changed'], users, { platform, platformChosenAt: now }, own);
      const data = { platform };
      replaceEvent(tx, ['changed'], {
        settings,
        type: 'platform.changed',
        now,
        who: own,
        data,
      });
    },

    respond: ({ user, outcome }) =>
      respond({
        userId: user.id,
        platform: outcome === 'late' ? user.platform : platform,
        isNew: outcome === 'changed',
      }),
  });
}
