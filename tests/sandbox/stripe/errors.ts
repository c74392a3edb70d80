type Details = {
  type: 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error';
  message: string;
  code?: string;
  param?: string;
  decline_code?: string;
  payment_intent?: unknown;
};

/** A refusal in Stripe's own words. `keep` marks one whose changes stand: a declined charge did happen. */
export class StripeError extends Error {
  readonly status: number;
  readonly details: Details;
  readonly keep: boolean;

  constructor(status: number, details: Details, keep = false) {
    super(details.message);
    this.status = status;
    this.details = details;
    this.keep = keep;
  }
}

export function invalid(message: string, param?: string, code?: string): StripeError {
  return new StripeError(400, {
    type: 'invalid_request_error',
    message,
    ...(code && { code }),
    ...(param && { param }),
  });
}

/** 404 for the object that the address names, 400 for one that a parameter names. */
export function missing(label: string, id: string, param?: string): StripeError {
  const message = `No such ${label}: '${id}'`;
  const details: Details = { type: 'invalid_request_error', code: 'resource_missing', message, param: param ?? 'id' };
  return new StripeError(param === undefined ? 404 : 400, details);
}

export function declined(
  decline: { message: string; code: string; decline_code?: string },
  keep: boolean,
): StripeError {
  return new StripeError(402, { type: 'card_error', ...decline }, keep);
}
