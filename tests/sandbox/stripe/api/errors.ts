type Details = {
  type: 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error';
  message: string;
  code?: string;
  param?: string;
  decline_code?: string;
  charge?: string | null;
  payment_intent?: unknown;
};

/** An error in Stripe's own words. `keep` keeps the changes of its request, since a declined charge took place. */
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
  const details = {
    message,
    ...(code && { code }),
    ...(param && { param }),
  };
  return new StripeError(400, {
    type: 'invalid_request_error',
    ...details,
  });
}

/**
 * An object does not exist: 400 if the parameter `param` names it, else 404. `pathParam` is Stripe's name of the path
 * parameter.
 */
export function missing(
  label: string,
  id: string,
  param: string | undefined,
  pathParam = 'id',
): StripeError {
  const details = {
    code: 'resource_missing',
    message: `No such ${label}: '${id}'`,
    param: param ?? pathParam,
  };
  return new StripeError(param === undefined ? 404 : 400, {
    type: 'invalid_request_error',
    ...details,
  });
}

/** 404: the object in the path does not exist. */
export const notFound = (label: string, id: string, pathParam?: string) =>
  missing(label, id, undefined, pathParam);

export type Decline = {
  message: string;
  code: string;
  decline_code?: string;
  param?: string;
};

/** 402: the card was declined. With `keep`, the changes of the attempt are kept. */
export function declined(
  decline: Decline,
  keep: boolean,
  objects: Partial<Details> = {},
): StripeError {
  return new StripeError(402, { type: 'card_error', ...decline, ...objects }, keep);
}
