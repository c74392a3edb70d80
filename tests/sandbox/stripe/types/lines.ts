export type Period = { start: number; end: number };

/** The invoice lines that a credit refunds. */
export type Credited = { invoice: string; invoice_line_items: string[] };

type ItemDetails = {
  invoice_item: string | null;
  proration: boolean;
  proration_details: { credited_items: Credited | null };
  subscription: string;
  subscription_item: string;
};

export type Line = {
  id: string;
  object: 'line_item';
  amount: number;
  currency: string;
  description: string;
  discountable: boolean;
  invoice: string | null;
  parent: { type: string; invoice_item_details: null; subscription_item_details: ItemDetails };
  period: Period;
  pricing: object;
  quantity: number;
  quantity_decimal: string;
  subscription: string;
  subtotal: number;
};
