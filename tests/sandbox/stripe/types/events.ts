export type EventObject = { id: string; object: string; charge?: unknown; customer?: unknown; invoice?: unknown };

export type StripeEvent = {
  id: string;
  object: 'event';
  api_version: string;
  created: number;
  data: { object: EventObject; previous_attributes?: Record<string, unknown> };
  livemode: false;
  pending_webhooks: number;
  request: { id: string | null; idempotency_key: string | null };
  type: string;
  /** The customer it concerns, whose events are sent in order. */
  _: { customer: string };
};
