import { eq } from 'drizzle-orm';
import type { Stripe } from 'stripe';
import { customers } from '#db/schema';
import type { ExportSection } from '../identity/user-record.ts';
import type { Settings } from '../settings.ts';
import { requireOwner } from './foreign-customer.ts';
import { unlessMissing, unlessRefused, wholeList, withStripe } from './stripe-client.ts';

/**
 * Our row and Stripe's data; throws 503 if Stripe does not respond,
 * since a partial export would mislead. A refusal is told.
 */
export const exportBilling: ExportSection = async ({ user, db, settings }) => {
  const { stripeId, syncedAt, hadSubscription, setupSession } = customers;
  const columns = { stripeId, syncedAt, hadSubscription, setupSession };
  const [row] = await db.select(columns).from(customers).where(eq(customers.userId, user.id));
  if (!row?.stripeId) return { stripe: null };
  const found = await unlessRefused(fromStripe(settings, row.stripeId, user.id));
  return { stripe: { kept: row, ...(found ?? { isRefused: true }) } };
};

function fromStripe(settings: Settings, id: string, userId: string) {
  return withStripe(settings, async (stripe) => {
    const customer = await unlessMissing(stripe.customers.retrieve(id));
    if (!customer || customer.deleted)
      return {
        customer: null,
        subscriptions: [],
        invoices: [],
        paymentMethods: [],
      };

    requireOwner(customer, userId);
    const lists = { customer: id, limit: 100 };
    const [subscriptions, invoices, paymentMethods] = await Promise.all([
      stripe.subscriptions
        .list({
          ...lists,
          status: 'all',
        })
        .autoPagingToArray(wholeList),
      stripe.invoices.list(lists).autoPagingToArray(wholeList),
      stripe.customers.listPaymentMethods(id, { limit: 100 }).autoPagingToArray(wholeList),
    ]);

    return {
      customer: customerFields(customer),
      subscriptions: subscriptions.map(subscriptionFields),
      invoices: invoices.map(invoiceFields),
      paymentMethods: paymentMethods.map(paymentMethodFields),
    };
  });
}

function customerFields({ id, created, name, email, phone, address }: Stripe.Customer) {
  return { id, created: isoDate(created), name, email, phone, address };
}

function subscriptionFields({
  id,
  status,
  created,
  items,
  cancel_at: cancelAt,
  ended_at: endedAt,
}: Stripe.Subscription) {
  const plans = items.data.map(({ price }) => price.lookup_key);
  return {
    id,
    status,
    plans,
    created: isoDate(created),
    cancelAt: isoDate(cancelAt),
    endedAt: isoDate(endedAt),
  };
}

function invoiceFields({ id, number, status, created, total, currency }: Stripe.Invoice) {
  return { id, number, status, created: isoDate(created), total, currency };
}

function paymentMethodFields({
  id,
  type,
  created,
  card,
  billing_details: billing,
}: Stripe.PaymentMethod) {
  const { name, email, phone, address } = billing;
  const shown = card && {
    brand: card.brand,
    last4: card.last4,
    expMonth: card.exp_month,
    expYear: card.exp_year,
  };
  return {
    id,
    type,
    created: isoDate(created),
    card: shown ?? null,
    billing: { name, email, phone, address },
  };
}

function isoDate(seconds: number | null): string | null {
  return seconds === null ? null : new Date(seconds * 1000).toISOString();
}
