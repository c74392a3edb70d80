import { setTimeout as wait } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { customers } from '#db/schema';
import { phoneTag } from '../../../lib/log.ts';
import { findUser } from '../find-user.ts';
import type { SupportCommand, SupportRequest } from '../support-command.ts';

/** The cron job runs every minute and fetches for at most 45 s. */
const patienceMs = 150_000;
const pauseMs = 1000;

/** Makes the cron job fetch the user's state from Stripe, and waits for it; open pages then update. */
export const sync: SupportCommand = {
  usage: 'sync NUMBER',
  about: "fetches the user's subscription from Stripe again, within two minutes",
  async run(request) {
    const { db, settings, words } = request;
    const user = await findUser(db, words[0]);
    return {
      would: `fetch the subscription of ${user.phone} from Stripe`,
      about: await phoneTag(settings.CODE_PEPPER[0]!, user.phone),
      needsYes: false,
      perform: () => fetchAgain(request, user.id, user.phone),
    };
  },
};

async function fetchAgain({ db }: SupportRequest, userId: string, phone: string) {
  const mine = eq(customers.userId, userId);
  const again = { dirty: sql`${customers.dirty} + 1`, dueAt: 0 };
  const [row] = await db.update(customers).set(again).where(mine).returning({ wanted: customers.dirty });
  if (!row) throw new Error('This user was never sent to Stripe: there is nothing to fetch.');
  process.stderr.write('Waiting for the cron job, which runs every minute.\n');
  for (const until = Date.now() + patienceMs; Date.now() < until; await wait(pauseMs)) {
    const [now] = await db.select().from(customers).where(mine);
    if (!now) throw new Error('The account was deleted meanwhile.');
    if (now.synced >= row.wanted) {
      const { tier, subscriptionStatus } = await findUser(db, phone);
      const data = { fetched: true, tier, subscriptionStatus };
      return { data, text: `Fetched from Stripe: ${tier}, ${subscriptionStatus}.` };
    }
  }
  const text = 'The cron job has not fetched it yet; it keeps trying. Look for sync_postponed in the log.';
  return { data: { fetched: false }, text, complete: false };
}
