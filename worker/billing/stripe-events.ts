import { eq, sql } from 'drizzle-orm';
import * as v from 'valibot';
import { customers, stripeEvents, users } from '#db/schema';
import { batch, type Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import { acquireLease, type LeasedCustomer } from './lease.ts';
import { openStripe } from './stripe-client.ts';

const toleranceSeconds = 300;

const Event = v.object({
  id: v.string(),
  object: v.literal('event'),
  type: v.string(),
  livemode: v.boolean(),
  data: v.object({ object: v.record(v.string(), v.unknown()) }),
});

export type StripeEvent = v.InferOutput<typeof Event>;

/**
 * Reads an event that Stripe has signed with one of
 * the secrets, at most 5 minutes ago; throws 400.
 */
export async function readStripeEvent(
  settings: Settings,
  request: Request,
  readBody: () => Promise<string>,
): Promise<StripeEvent> {
  const signature = request.headers.get('stripe-signature') ?? '';
  if (!isRecent(signature)) throw new RequestError('invalidStripeSignature');
  const body = await readBody();
  if (!(await isSigned(settings, signature, body)))
    throw new RequestError('invalidStripeSignature');
  const event = v.safeParse(v.pipe(v.string(), v.parseJson(), Event), body);
  if (!event.success) throw new RequestError('invalidBody');
  return event.output;
}

export function customerOf({ data: { object } }: StripeEvent): string | null {
  if (object.object === 'customer') return v.is(v.string(), object.id) ? object.id : null;
  const Customer = v.union([v.string(), v.object({ id: v.string() })]);
  if (!v.is(Customer, object.customer)) return null;
  return typeof object.customer === 'string' ? object.customer : object.customer.id;
}

/**
 * Saves the event, marks its customer as dirty, and acquires
 * it; another holder sees the mark before it releases.
 */
export async function saveStripeEvent(
  db: Database,
  event: StripeEvent,
  stripeId: string,
  now: number,
): Promise<LeasedCustomer | null> {
  const { id, type } = event;
  const token = crypto.randomUUID();
  const own = eq(customers.stripeId, stripeId);
  // The customer of a deleted account is known, and nobody's.
  const isKnown = sql`exists (select 1 from ${customers} join ${users} on ${users.id} = ${customers.userId} where ${own})`;
  const isFirst = sql`exists (select 1 from ${stripeEvents} where ${stripeEvents.id} = ${id} and ${stripeEvents.by} = ${token})`;
  const { save, acquired, standing } = await batch(db, {
    save: db.run(sql`insert into ${stripeEvents} (id, type, by, at)
      select ${id}, ${type}, ${token}, ${now} where ${isKnown} on conflict do nothing`),
    mark: db
      .update(customers)
      .set({ dirty: sql`${customers.dirty} + 1`, dueAt: now })
      .where(sql`${own} and ${isFirst}`),
    standing: db
      .select({ tier: users.tier, cancelAt: users.cancelAt })
      .from(customers)
      .innerJoin(users, eq(users.id, customers.userId))
      .where(own),
    ...acquireLease(db, token, sql`${own} and ${customers.dirty} > ${customers.synced}`),
  });
  const goesOn = standing.some(({ tier, cancelAt }) => tier !== 'free' && cancelAt === null);
  if (save.rowsAffected > 0) logRefund(event, stripeId, goesOn);
  const [row] = acquired;
  return row ? { token, ...row } : null;
}

/**
 * A refund ends nothing: whoever made it by hand
 * must know of a subscription that goes on.
 */
function logRefund(
  { type, data: { object } }: StripeEvent,
  customer: string,
  goesOn: boolean,
): void {
  if (type !== 'charge.refunded') return;
  log(goesOn ? 'error' : 'info', 'payment_refunded', {
    customer,
    charge: object.id,
    amount: object.amount,
    refunded: object.amount_refunded,
  });
}

async function isSigned(settings: Settings, signature: string, body: string): Promise<boolean> {
  const { webhooks } = await openStripe(settings);
  for (const secret of settings.STRIPE_WEBHOOK_SECRET) {
    const verified = webhooks.signature?.verifyHeaderAsync(
      body,
      signature,
      secret,
      toleranceSeconds,
    );
    if (await verified?.catch(() => false)) return true;
  }
  return false;
}

/**
 * Stripe's SDK accepts future dates, with which a signature would never expire.
 */
function isRecent(signature: string): boolean {
  const at = Number(/(?:^|,)t=(\d{1,12})(?:,|$)/.exec(signature)?.[1]);
  return Math.abs(Date.now() / 1000 - at) <= toleranceSeconds;
}
