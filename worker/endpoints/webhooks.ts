import { eq, sql } from 'drizzle-orm';
import { customers, stripeEvents } from '#db/schema';
import { dealWithDispute, isDispute } from '../billing/disputes.ts';
import { acquireLease } from '../billing/acquire-lease.ts';
import type { LeasedCustomer } from '../billing/leased-customer.ts';
import { sync } from '../billing/sync.ts';
import { customerOf, verifyStripeEvent, type StripeEvent } from '../billing/webhook.ts';
import type { Handler, ContextOf } from '../http/request-context.ts';
import { describeError, log, phoneTag } from '../lib/log.ts';
import { sha256 } from '../lib/crypto.ts';
import { RequestError } from '../lib/request-error.ts';
import { isSignedByWhatsapp, undeliveredIn } from '../messaging/whatsapp-webhook.ts';
import { canonicalPhone } from '../accounts/phone.ts';

type Context = ContextOf<'stripeWebhook'>;

/**
 * An event only triggers a fetch: the handler saves it, marks its customer as dirty, and fetches the state. The cron
 * job repeats a failed fetch, so the response is 200 as soon as the mark is saved.
 */
export const stripeWebhook: Handler<'stripeWebhook'> = async (context) => {
  const { settings } = context;
  const event = await verifyStripeEvent(settings, context.request, context.rawBody);
  if (event.livemode !== /^(sk|rk)_live_/.test(settings.STRIPE_SECRET_KEY)) return { received: true };
  // The response is 503 until the dispute is handled, so that Stripe sends the event again.
  const customer = isDispute(event) ? await dealWithDispute(context, event) : customerOf(event);
  const leased = customer ? await saveEvent(context, event, customer) : null;
  if (leased) {
    logRefund(event, customer!);
    const work = sync(context, leased).catch((error: unknown) => log('error', 'sync_postponed', describeError(error)));
    context.waitUntil(work);
    await work;
  }
  return { received: true };
};

/** Saves the event, marks its customer as dirty, and acquires it; another holder sees the mark before it releases. */
async function saveEvent(
  { db, now }: Context,
  { id, type }: StripeEvent,
  stripeId: string,
): Promise<LeasedCustomer | null> {
  const token = crypto.randomUUID();
  const own = eq(customers.stripeId, stripeId);
  const isKnown = sql`exists (select 1 from ${customers} where ${own})`;
  const isFirst = sql`exists (select 1 from ${stripeEvents} where ${stripeEvents.id} = ${id} and ${stripeEvents.by} = ${token})`;
  const [, , , [row]] = await db.batch([
    db.run(sql`insert into ${stripeEvents} (id, type, by, at)
      select ${id}, ${type}, ${token}, ${now} where ${isKnown} on conflict do nothing`),
    db
      .update(customers)
      .set({ dirty: sql`${customers.dirty} + 1`, dueAt: now })
      .where(sql`${own} and ${isFirst}`),
    ...acquireLease(db, token, sql`${own} and ${customers.dirty} > ${customers.synced}`),
  ]);
  return row ? { token, ...row } : null;
}

function logRefund({ type, data: { object } }: StripeEvent, customer: string): void {
  if (type !== 'charge.refunded') return;
  log('info', 'payment_refunded', {
    customer,
    charge: object.id,
    amount: object.amount,
    refunded: object.amount_refunded,
  });
}

/** Meta's handshake. Compares hashes, so that the duration reveals nothing about the token. */
export const verifyWhatsappWebhook: Handler<'verifyWhatsappWebhook'> = async ({ query, settings }) => {
  const { WHATSAPP_VERIFY_TOKEN: expected } = settings;
  if (!expected) throw new RequestError('notFound');
  if ((await sha256(query['hub.verify_token'])) !== (await sha256(expected))) throw new RequestError('invalidToken');
  return new Response(query['hub.challenge'], { headers: { 'content-type': 'text/plain; charset=utf-8' } });
};

export const whatsappWebhook: Handler<'whatsappWebhook'> = async ({ request, rawBody, settings }) => {
  const { WHATSAPP_APP_SECRET: secret } = settings;
  if (!secret) throw new RequestError('notFound');
  const signature = request.headers.get('x-hub-signature-256');
  if (!(await isSignedByWhatsapp(secret, signature, rawBody))) throw new RequestError('invalidBotSignature');
  for (const { recipientId, code } of undeliveredIn(parse(rawBody))) {
    log('info', 'whatsapp_undelivered', {
      phone: await phoneTag(settings.CODE_PEPPER[0]!, canonicalPhone(`+${recipientId}`)),
      code,
    });
  }
  return { received: true };
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestError('invalidBody');
  }
}
