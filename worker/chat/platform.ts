import { eq, gt } from 'drizzle-orm';
import { users } from '#db/schema';
import type { UserSession } from '../identity/user-session.ts';
import { replaceEvent } from '../bot/outbox.ts';
import type { Scope } from '../request-scope.ts';

type Platform = (typeof users.$inferSelect)['platform'];

/**
 * Stores where a user talks with Solace, and queues the
 * bot's event. The time of the request is the version of the
 * choice, so that a late write overwrites no newer choice.
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
