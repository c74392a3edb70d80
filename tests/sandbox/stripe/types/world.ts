import type { Store } from '../../store.ts';
import type { Clock } from '../clock.ts';
import type { Emit } from '../table.ts';
import type { Tables } from './tables.ts';

export type Settings = {
  /** Where the hosted pages answer. */
  sandboxUrl: string;
  /** The merchant's site; the portal's last resort to return to. */
  siteUrl: string;
  secretKey: string;
  /**
   * Every endpoint's secret. Only here: the Worker reads its secret from a file that stands before any endpoint does.
   */
  webhookSecret?: string;
  businessName: string;
  /** Where an account's settings differ from Stripe's defaults. */
  collection?: Partial<CollectionSettings>;
};

/** How the account collects failed renewals. */
export type CollectionSettings = {
  retries: 'two-weeks' | 'five-days';
  /** What becomes of a subscription after the last retry. */
  afterRetries: 'cancel' | 'unpaid' | 'past_due';
};

export type RequestInfo = {
  id: string | null;
  idempotency_key: string | null;
  /** The request is answered as if its key were another account's: no customer is known. */
  unknownCustomers: boolean;
};

/** Everything that Stripe holds, and its time. */
export type World = Tables & {
  settings: Settings;
  store: Store;
  clock: Clock;
  now: () => number;
  emit: Emit;
  collection(): CollectionSettings;
  setCollection(changes: Partial<CollectionSettings>): CollectionSettings;
  /** The request that causes the present events; nulls when time does. */
  request: RequestInfo;
};
