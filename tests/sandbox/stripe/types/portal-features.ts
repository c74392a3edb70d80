type PortalProduct = {
  product: string;
  prices: string[];
  adjustable_quantity?: { enabled: boolean; maximum: number | null; minimum: number };
};

/** What a customer may do in the portal. */
export type Features = {
  customer_update: { allowed_updates: string[]; enabled: boolean };
  invoice_history: { enabled: boolean };
  payment_method_update: { enabled: boolean; payment_method_configuration: string | null };
  subscription_cancel: {
    cancellation_reason: { enabled: boolean; feedback_options: null; options: string[] };
    enabled: boolean;
    mode: 'at_period_end' | 'immediately';
    proration_behavior: string;
  };
  subscription_pause: { duration: { interval_options: []; type: string }; enabled: boolean };
  subscription_update: {
    billing_cycle_anchor: string | null;
    default_allowed_updates: string[];
    enabled: boolean;
    products: PortalProduct[];
    proration_behavior: string;
    schedule_at_period_end: { conditions: { type: string }[] };
    trial_update_behavior: 'continue_trial' | 'end_trial';
  };
};
