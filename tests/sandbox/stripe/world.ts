import type { Store } from './store.ts';
import type { Clock } from './clock.ts';
import newObjects from './parameters/new-objects.json' with { type: 'json' };
import type * as stripe from './objects.ts';
import type { Doc, Emit, Kind, Table } from './table.ts';
import { missing } from './api/errors.ts';

export type Settings = {
  /** The address of the hosted pages. */
  sandboxUrl: string;
  /** The merchant's site, to which the portal returns if its session names no address. */
  siteUrl: string;
  secretKey: string;
  /**
   * The secret of every webhook endpoint. The real Stripe makes one for each; here the Worker's settings contain it
   * before an endpoint exists.
   */
  webhookSecret: string;
};

/** The merchant's name on the hosted pages. */
export const businessName = 'Solace';

/** How the account collects failed renewals. */
export type CollectionSettings = {
  retries: 'two-weeks' | 'five-days';
  /** What happens to a subscription after the last retry. */
  afterRetries: 'cancel' | 'unpaid' | 'past_due';
};

/** Every object that the local Stripe stores, its clock and its settings. */
export type World = Tables & {
  settings: Settings;
  store: Store;
  clock: Clock;
  /** The time of the customer whom the present changes concern. */
  now: () => number;
  /** That customer, or ''. */
  customer: string;
  emit: Emit;
  /** The customer of an object, else ''. */
  ownerOf(id: string): string;
  /** What applies to a customer; for '', to all who have no settings of their own. */
  collection(customer: string): CollectionSettings;
  setCollection(changes: Partial<CollectionSettings>, customer: string): CollectionSettings;
  /** The response is that of another account, which has none of the customers. */
  unknownCustomers: boolean;
};

function kind<T extends Doc>(
  prefix: string,
  label: string,
  options: Partial<Kind<T>> = {},
): Kind<T> {
  return { prefix, label, ...options };
}

/** Every kind of object, by its table. */
export const kinds = {
  balanceTransactions: kind<stripe.BalanceTransaction>('txn_', 'balance transaction', {
    pathParam: 'id',
  }),
  charges: kind<stripe.Charge>('ch_', 'charge'),
  checkoutSessions: kind<stripe.CheckoutSession>('cs_', 'checkout.session', {
    pathParam: 'session',
  }),
  creditNotes: kind<stripe.CreditNote>('cn_', 'credit note', { event: 'credit_note' }),
  // Merchants name them.
  coupons: kind<stripe.Coupon>('coupon ', 'coupon', {
    pathParam: 'coupon',
    event: 'coupon',
  }),
  customers: kind<stripe.Customer>('cus_', 'customer', { event: 'customer' }),
  discounts: kind<stripe.Discount>('di_', 'discount'),
  disputes: kind<stripe.Dispute>('du_', 'dispute', {
    pathParam: 'dispute',
    event: 'charge.dispute',
  }),
  events: kind<stripe.StripeEvent>('evt_', 'event'),
  invoicePayments: kind<stripe.InvoicePayment>('inpay_', 'invoice_payment', {
    pathParam: 'invoice_payment',
  }),
  invoices: kind<stripe.Invoice>('in_', 'invoice', { event: 'invoice' }),
  paymentIntents: kind<stripe.PaymentIntent>('pi_', 'payment_intent', {
    pathParam: 'intent',
    event: 'payment_intent',
  }),
  paymentMethods: kind<stripe.PaymentMethod>('pm_', 'PaymentMethod', {
    pathParam: 'payment_method',
  }),
  portalConfigurations: kind<stripe.PortalConfiguration>('bpc_', 'configuration', {
    pathParam: 'configuration',
    event: 'billing_portal.configuration',
  }),
  portalSessions: kind<stripe.PortalSession>('bps_', 'billing_portal.session', {
    event: 'billing_portal.session',
  }),
  prices: kind<stripe.Price>('price_', 'price', {
    pathParam: 'price',
    event: 'price',
  }),
  products: kind<stripe.Product>('prod_', 'product', { event: 'product' }),
  refunds: kind<stripe.Refund>('re_', 'refund', {
    pathParam: 'refund',
    event: 'refund',
  }),
  // Before those of subscriptions, with which its ids begin.
  schedules: kind<stripe.Schedule>('sub_sched_', 'subscription schedule', {
    pathParam: 'schedule',
    event: 'subscription_schedule',
  }),
  setupIntents: kind<stripe.SetupIntent>('seti_', 'setupintent', {
    pathParam: 'intent',
    event: 'setup_intent',
  }),
  subscriptions: kind<stripe.Subscription>('sub_', 'subscription', {
    event: 'customer.subscription',
  }),
  webhookEndpoints: kind<stripe.WebhookEndpoint>('we_', 'webhook endpoint', {
    pathParam: 'webhook_endpoint',
  }),
};
type ObjectOf<Of> = Of extends Kind<infer T> ? T : never;
export type Tables = { [Name in keyof typeof kinds]: Table<ObjectOf<(typeof kinds)[Name]>> };

type StoredObject = { [Name in keyof Tables]: ReturnType<Tables[Name]['get']> }[keyof Tables];
// The values with which objects begin are of the SDK's types.
newObjects satisfies { [Each in StoredObject as Each['object']]?: Partial<Each> };

/** The object with this id, of whatever kind. */
export function findById(tables: Tables, id: string): Doc | undefined {
  const names = Object.keys(kinds) as (keyof Tables)[];
  const name = names.find((each) => id.startsWith(kinds[each].prefix));
  return name && tables[name].find(id);
}

/** One request with decoded and validated parameters. */
export type Call<Params = object> = {
  params: Params;
  ids: Record<string, string>;
  path: string;
};
export type Handler = (world: World, call: Call<never>) => unknown;

/** The id in the address. */
export const idOf = (call: Call): string => call.ids['id'] ?? '';

/** Runs changes in one transaction at the time of a customer ('' for everybody's), then sends their events. */
export type Atomically = <T>(customer: string, work: () => T) => T;

export type ApiResponse = { status: number; body: unknown };

/** The version of Stripe's API that the local Stripe supports. */
export const apiVersion = '2026-10-28.endive';

/** A customer that was not deleted. Throws `resource_missing`: 400 for the parameter `param`, else 404. */
export function liveCustomer(world: World, id: string, param?: string): stripe.Customer {
  const customer = world.customers.get(id, param);
  if (customer.deleted) throw missing('customer', id, param);
  return customer;
}

type MetadataParam = '' | null | Record<string, string | number | null> | undefined;

/** Merges metadata: an empty value removes its key, an empty text removes every key. */
export function mergeMetadata(old: stripe.Metadata, changes: MetadataParam): stripe.Metadata {
  if (changes === undefined) return old;
  if (changes === '' || changes === null) return {};
  const merged = { ...old, ...(changes as stripe.Metadata) };
  return Object.fromEntries(
    Object.entries(merged).filter(([, value]) => value !== '' && value !== null),
  );
}

/** A new object's metadata. */
export const newMetadata = (given: MetadataParam): stripe.Metadata => mergeMetadata({}, given);

type Given<Params, Name extends keyof Params> = {
  [Field in Name]?:
    | Exclude<Params[Field], '' | undefined>
    | ('' extends Params[Field] ? null : never);
};

/** The named parameters that a request contains; an empty text unsets a field. */
export function given<Params extends object, Name extends keyof Params>(
  params: Params,
  ...names: Name[]
) {
  const entries = names
    .filter((name) => params[name] !== undefined)
    .map((name) => [name, params[name] === '' ? null : params[name]]);
  return Object.fromEntries(entries) as Given<Params, Name>;
}
