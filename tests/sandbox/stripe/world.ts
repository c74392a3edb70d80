import type { Store } from '../store.ts';
import type { Clock } from './clock.ts';
import type { Emit, Table } from './table.ts';
import type {
  Charge,
  Dispute,
  PaymentIntent,
  PaymentMethod,
  Refund,
  SetupIntent,
  CheckoutSession,
  PortalConfiguration,
  PortalSession,
  Customer,
  Price,
  Product,
  StripeEvent,
  WebhookEndpoint,
  Invoice,
  InvoicePayment,
  Schedule,
  Subscription,
  Metadata,
} from './objects.ts';
import { missing, notFound } from './api/errors.ts';

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
  webhookSecret?: string;
  businessName: string;
  /** The account's settings that differ from Stripe's defaults. */
  collection?: Partial<CollectionSettings>;
};

/** How the account collects failed renewals. */
export type CollectionSettings = {
  retries: 'two-weeks' | 'five-days';
  /** What happens to a subscription after the last retry. */
  afterRetries: 'cancel' | 'unpaid' | 'past_due';
};

export type RequestInfo = {
  id: string | null;
  idempotency_key: string | null;
  /** The response is that of another account, which has none of the customers. */
  unknownCustomers: boolean;
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
  /** What applies to a customer; without one, to all who have no settings of their own. */
  collection(customer?: string): CollectionSettings;
  setCollection(changes: Partial<CollectionSettings>, customer?: string): CollectionSettings;
  /** The request that causes the events; its fields are null when the clock causes them. */
  request: RequestInfo;
};

/** The tables of the local Stripe, one for each kind of object. */
export type Tables = {
  charges: Table<Charge>;
  checkoutSessions: Table<CheckoutSession>;
  customers: Table<Customer>;
  disputes: Table<Dispute>;
  events: Table<StripeEvent>;
  invoicePayments: Table<InvoicePayment>;
  invoices: Table<Invoice>;
  paymentIntents: Table<PaymentIntent>;
  paymentMethods: Table<PaymentMethod>;
  portalConfigurations: Table<PortalConfiguration>;
  portalSessions: Table<PortalSession>;
  prices: Table<Price>;
  products: Table<Product>;
  refunds: Table<Refund>;
  schedules: Table<Schedule>;
  setupIntents: Table<SetupIntent>;
  subscriptions: Table<Subscription>;
  webhookEndpoints: Table<WebhookEndpoint>;
};

/** One request with decoded and validated parameters. */
export type Call<Params = object> = { params: Params; ids: Record<string, string>; path: string };
export type Handler = (world: World, call: Call<never>) => unknown;

/** The id in the address. */
export function idOf(call: Call): string {
  return call.ids['id'] ?? '';
}

/** Runs changes in one transaction at the time of a customer ('' for everybody's), then sends their events. */
export type Atomically = <T>(customer: string, work: () => T) => T;

export type ApiResponse = { status: number; body: unknown };

/** The version of Stripe's API that the local Stripe supports. */
export const apiVersion = '2026-10-28.endive';

/** A customer that was not deleted. Throws `resource_missing`: 400 for the parameter `param`, else 404. */
export function liveCustomer(world: World, id: string, param?: string): Customer {
  const customer = world.customers.get(id, param);
  if (customer.deleted) throw param === undefined ? notFound('customer', id) : missing('customer', id, param);
  return customer;
}

type MetadataParam = '' | null | Record<string, string | number | null> | undefined;

/** Merges metadata: an empty value removes its key, an empty text removes every key. */
export function mergeMetadata(old: Metadata, changes: MetadataParam): Metadata {
  if (changes === undefined) return old;
  if (changes === '' || changes === null) return {};
  const merged = { ...old, ...(changes as Metadata) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== '' && value !== null));
}

/** A new object's metadata. */
export function newMetadata(given: MetadataParam): Metadata {
  return mergeMetadata({}, given);
}
