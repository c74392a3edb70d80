import type { ErrorBody, ErrorName } from '../contract/errors.ts';

type Details = {
  message?: string;
  issues?: ErrorBody['issues'];
  retryAfter?: number;
  allow?: string;
  fields?: Record<string, unknown>;
};

export class RequestError extends Error {
  readonly errorName: ErrorName;
  readonly details: Details;

  constructor(errorName: ErrorName, details: Details = {}) {
    super(errorName);
    this.name = 'RequestError';
    this.errorName = errorName;
    this.details = details;
  }
}

/** Unix ms; `Retry-After` in seconds. */
export function rateLimited(
  allowedAt: number,
  now: number,
  fields: Record<string, unknown> = {},
): RequestError {
  const retryAfter = Math.max(1, Math.ceil((allowedAt - now) / 1000));
  return new RequestError('rateLimited', { retryAfter, fields });
}
