import type { Address } from './contact-details.ts';
import type { Metadata } from './metadata.ts';

export type Customer = {
  id: string;
  object: 'customer';
  deleted?: true;
  created: number;
  email: string | null;
  phone: string | null;
  name: string | null;
  description: string | null;
  address: Address | null;
  /** In cents; a negative balance is the customer's credit. */
  balance: number;
  currency: string | null;
  delinquent: boolean;
  invoice_prefix: string;
  next_invoice_sequence: number;
  invoice_settings: {
    default_payment_method: string | null;
    custom_fields: null;
    footer: string | null;
    rendering_options: null;
  };
  metadata: Metadata;
  /** The phone number, which is kept after deletion, and what search finds until the index contains the last change. */
  _: { phone: string | null; indexed?: Indexed };
};

/** The version of a customer that search finds until the index contains the change made at `changedAt` (unix ms). */
export type Indexed = { changedAt: number; earlier: Searchable | null };

export type Searchable = Pick<Customer, 'created' | 'email' | 'metadata' | 'name' | 'phone'>;
