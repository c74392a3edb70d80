import type { Store } from '../../store.ts';
import type { Clock } from '../clock.ts';
import type { Emit } from '../table.ts';
import type { Tables } from './tables.ts';

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
