import type { Stripe } from 'stripe';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';

export const apiVersion = '2026-10-28.endive';

export function stripeOptions(apiBase: string) {
  const { hostname, port, protocol } = new URL(apiBase);
  const https = protocol === 'https:';
  return {
    apiVersion,
    host: hostname,
    port: port || (https ? '443' : '80'),
    protocol: https ? 'https' : 'http',
    timeout: 8000,
    maxNetworkRetries: 1,
    telemetry: false,
  } satisfies Stripe.StripeConfig;
}

/** The SDK is evaluated by the first billing call of an isolate, not by every start. */
let sdk: typeof Stripe | undefined;

export async function openStripe(
  settings: Pick<Settings, 'STRIPE_API_BASE' | 'STRIPE_SECRET_KEY'>,
): Promise<Stripe> {
  sdk ??= (await import('stripe')).Stripe;
  const httpClient = sdk.createFetchHttpClient();
  return new sdk(settings.STRIPE_SECRET_KEY, {
    ...stripeOptions(settings.STRIPE_API_BASE),
    httpClient,
  });
}

/** The result, or null if Stripe does not have the object: the requested one, or the one in `param`. */
export async function unlessMissing<T>(request: Promise<T>, param?: string): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (
      isStripeError(error) &&
      error.code === 'resource_missing' &&
      (!param || error.param === param)
    )
      return null;
    throw error;
  }
}

/** The result, or null if Stripe refuses the request; throws if Stripe does not respond. */
export async function unlessRefused<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

const refusesUs = [401, 403, 429];
/** Errors about our key (401, 403), a concurrent request (409) or a rate limit (429) are not refusals. */
const otherReasons = [...refusesUs, 409];

function isRefusal(error: unknown): boolean {
  if (!isStripeError(error)) return false;
  const { statusCode = 500 } = error;
  return statusCode < 500 && !isKeySpent(error) && !otherReasons.includes(statusCode);
}

/** Whether the idempotency key was used for other parameters. While a request with a key runs, Stripe responds 409. */
function isKeySpent({ type, statusCode }: StripeError): boolean {
  return type === 'StripeIdempotencyError' && statusCode === 400;
}

/** 503: Stripe does not respond, or fails. */
export class StripeUnavailable extends RequestError {
  /** Whether the same idempotency key fails for a day: Stripe replays a stored 5xx, and takes no other parameters. */
  readonly replays: boolean;

  constructor(cause: StripeError) {
    super('unavailable');
    this.name = 'StripeUnavailable';
    this.cause = cause;
    this.replays = (cause.statusCode ?? 0) >= 500 || isKeySpent(cause);
  }
}

/** Runs work that needs Stripe; throws 503 if Stripe does not respond, fails, or limits our rate. */
export async function withStripe<T>(
  settings: Settings,
  work: (stripe: Stripe) => Promise<T>,
): Promise<T> {
  try {
    return await work(await openStripe(settings));
  } catch (error) {
    if (!isStripeError(error) || isRefusal(error)) throw error;
    const { statusCode: status = 0, code } = error;
    if (refusesUs.includes(status)) log('error', 'stripe_refused', { status, code });
    throw new StripeUnavailable(error);
  }
}

type StripeError = Error & { type: string; code?: string; param?: string; statusCode?: number };

function isStripeError(error: unknown): error is StripeError {
  return error instanceof Error && 'type' in error && String(error.type).startsWith('Stripe');
}
