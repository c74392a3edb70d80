import type { Metadata } from './metadata.ts';

export type Product = {
  id: string;
  object: 'product';
  active: boolean;
  created: number;
  updated: number;
  name: string;
  description: string | null;
  default_price: string | null;
  images: string[];
  marketing_features: object[];
  metadata: Metadata;
  statement_descriptor: string | null;
  tax_code: string | null;
  unit_label: string | null;
  url: string | null;
};
