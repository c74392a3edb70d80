import { and, eq, gt, isNotNull, isNull, ne, not } from 'drizzle-orm';
import * as v from 'valibot';
import { customers, stripeEvents, users } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { isTrue, oneRow, plus, rowExists } from '../lib/expressions.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import { dayMs } from '../lib/time.ts';
import { transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import { acquireLease, type LeasedCustomer } from './lease.ts';
import { openStripe } from './stripe-client.ts';

export const stripeEventsKeptMs = 30 * dayMs;

const toleranceSeconds = 300;

const Event = v.object({
  id: v.string(),
  object: v.literal('event'),
  type: v.string(),
  livemode: v.boolean(),
  data: v.object({ object: v.record(v.string(), v.unknown()) }),
});

export type StripeEvent = v.InferOutput<typeof Event>;

/** Throws 400 unless signed in the last 5 minutes. */
export async function readStripeEvent(
  settings: Settings,
  request: Request,
  readBody: () => Promise<string>,
): Promise<StripeEvent> {
  const signature = request.headers.get('stripe-signature') ?? '';
  if (!isSignatureRecent(signature)) throw new RequestError('invalidStripeSignature');
  const body = await readBody();
  if (!(await isSignedByStripe(settings, signature, body)))
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
 * Saves an event of Stripe. The first condition that holds decides:
 *
 * | outcome    | condition                   | rows                                              |
 * | ---------- | --------------------------- | ------------------------------------------------- |
 * | `unknown`  | no account has the customer | none                                              |
 * | `repeated` | the event is saved already  | none                                              |
 * | `saved`    | none of these               | `stripe_events`; `customers` is marked (`dirty`), |
 * |            |                             | and due                                           |
 *
 * In each case the same transaction acquires the lease of a marked customer, and the customer is
 * returned; null if it is not marked, or another call holds it, which sees the mark before it
 * releases. A refund is logged by `saved` alone.
 */
export async function saveStripeEvent(
  db: Database,
  event: StripeEvent,
  stripeId: string,
  now: number,
): Promise<LeasedCustomer | null> {
  const { id, type } = event;
  const own = eq(customers.stripeId, stripeId);
  const token = crypto.randomUUID();

  const tx = transaction(db, {
    from: oneRow([customers, own], [users, eq(users.id, customers.userId)]),
    facts: {
      isKnown: isNotNull(users.id),
      isRepeated: rowExists(stripeEvents, eq(stripeEvents.id, id)),
      goesOn: isTrue(and(ne(users.tier, 'free'), isNull(users.cancelAt))),
    },
    outcomes: ({ isKnown, isRepeated }) => ({
      unknown: not(isKnown),
      repeated: isRepeated,
    }),
    otherwise: 'saved',
  });
  tx.insert(['saved'], stripeEvents, { id, type, at: now });
  tx.update(['saved'], customers, { dirty: plus(customers.dirty, 1), dueAt: now }, own);
  const isDirty = and(own, gt(customers.dirty, customers.synced))!;
  const { outcome, facts, reads } = await tx.run(acquireLease(db, token, isDirty));

  if (outcome === 'saved') logRefund(event, stripeId, facts.goesOn === 1);
  const [row] = reads.acquired;
  return row ? { token, ...row } : null;
}

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

async function isSignedByStripe(
  settings: Settings,
  signature: string,
  body: string,
): Promise<boolean> {
  const { webhooks } = await openStripe(settings);
  for (const secret of settings.require('STRIPE_WEBHOOK_SECRET')) {
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

/** Stripe's SDK accepts future dates, with which a signature would never expire. */
function isSignatureRecent(signature: string): boolean {
  const at = Number(/(?:^|,)t=(\d{1,12})(?:,|$)/.exec(signature)?.[1]);
  return Math.abs(Date.now() / 1000 - at) <= toleranceSeconds;
}
