import { and, eq, isNotNull, or } from 'drizzle-orm';
import { customers, users, type User } from '#db/schema';
import { ownCustomer } from '../billing/customer.ts';
import { withStripe } from '../billing/stripe-client.ts';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import type { Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import { endStreams, expectEnd, publish } from '../live/publish.ts';
import type { Settings } from '../settings.ts';
import type { Background } from '../env.ts';
import { moveInDatabase, type Account, type Move } from './move-rows.ts';

const triesAtOnce = 5;

/**
 * Gives an account another number, and ends the codes of both. Throws 409
 * if somebody has the number, 401 without the account, else 503.
 */
export async function movePhone(context: Background, before: Account, move: Move): Promise<User> {
  let account = before;
  for (let count = 0; count < triesAtOnce; count += 1) {
    // If the response is lost, this alone ends the streams (`live/ended-sessions.ts`).
    expectEnd(context, account.user.id);
    const { outcome, found, ended } = await moveInDatabase(context, account, move);

    switch (outcome) {
      case 'moved':
        finishMove(context, found.user, move.sessionId === null ? everySession : ended);
        return found.user;
      case 'taken':
        throw new RequestError('conflict', { message: 'Somebody has this number by now.' });
      case 'gone':
        throw new RequestError('unauthenticated');
      case 'overtaken':
        throw new RequestError('unavailable', { retryAfter: 1 });
      case 'changed':
        // Another call has rewrapped or replaced the key of the
        // conversation, or has brought a trial link or an id.
        account = found;
    }
  }
  throw new RequestError('unavailable', { retryAfter: 1 });
}

const everySession = [null];

/** After the response. */
function finishMove(context: Background, user: User, ended: (string | null)[]): void {
  const { db, env, settings, waitUntil } = context;
  for (const sessionId of ended) endStreams(context, user.id, sessionId);
  waitUntil(publish(env, user.id, { kind: 'changed' }));
  waitUntil(deliverSoon(db, settings, user.id));
  waitUntil(renameCustomer({ db, settings }, user));
}

const pausesMs = [0, 1000, 5000];

async function renameCustomer(
  parts: Pick<Background, 'db' | 'settings'>,
  { id }: User,
): Promise<void> {
  let customer: string | null = null;
  for (const pause of pausesMs) {
    await scheduler.wait(pause);
    const found = await askedCustomers(parts.db, id).catch(() => null);
    if (found?.length === 0) return;
    const { stripeId, phone } = found?.[0] ?? {};
    customer = stripeId ?? customer;
    if (stripeId && phone && (await isRenamed(parts.settings, stripeId, { id, phone }))) return;
  }
  log('error', 'customer_not_renamed', { customer });
}

/** The id of a customer is unknown while Stripe creates it. */
function askedCustomers(db: Database, userId: string) {
  const isAsked = or(isNotNull(customers.stripeId), eq(customers.stripeAsked, true));
  return db
    .select({ stripeId: customers.stripeId, phone: users.phone })
    .from(customers)
    .innerJoin(users, eq(users.id, customers.userId))
    .where(and(eq(customers.userId, userId), isAsked));
}

function isRenamed(
  settings: Settings,
  customer: string,
  { id, phone }: Pick<User, 'id' | 'phone'>,
): Promise<boolean> {
  const update = { phone, metadata: { userId: id, phone } };
  const rename = withStripe(settings, async (stripe) => {
    await ownCustomer(stripe, { customer: { stripeId: customer }, user: { id } });
    return stripe.customers.update(customer, update);
  });
  return rename.then(
    () => true,
    () => false,
  );
}
