import type { Stripe } from 'stripe';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';

export const apiVersion = '2026-10-28.endive';

/** Reads all pages of a list: no customer has more objects of a kind. */
export const wholeList = { limit: 1000 };

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

let sdk: typeof Stripe | undefined;

export async function openStripe(settings: Settings): Promise<Stripe> {
  sdk ??= (await import('stripe')).Stripe;
  const httpClient = sdk.createFetchHttpClient();
  return new sdk(settings.require('STRIPE_SECRET_KEY'), {
    ...stripeOptions(settings.require('STRIPE_API_BASE')),
    httpClient,
  });
}

/**
 * The result, or null if Stripe does not have the
 * object: the requested one, or the one in `param`.
 */
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

/** Null if Stripe refuses the request, or us. */
export function unlessDenied<T>(request: Promise<T>): Promise<T | null> {
  return nullIf((error) => isRefusal(error) || isDenial(error), request);
}

function orLogRefusal<T>(request: Promise<T>): Promise<T | null> {
  return nullIf(isRefusal, request);
}

async function nullIf<T>(
  isExpected: (error: unknown) => boolean,
  request: Promise<T>,
): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (!isExpected(error)) throw error;
    if (isStripeError(error)) logRefusal(error);
    return null;
  }
}

export function isDenial(error: unknown): boolean {
  if (error instanceof StripeUnavailable) return isDenial(error.cause);
  return isStripeError(error) && [401, 403].includes(error.statusCode ?? 0);
}

/** Null if Stripe refuses the request for good. */
export async function unlessRefused<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

export async function isDone(request: Promise<unknown>): Promise<boolean> {
  return (await orLogRefusal(request.then(() => true))) ?? false;
}

type FailureKind = 'later' | 'refused' | 'ours';

/**
 * Our key (401, 403), a concurrent request (409) or a
 * rate limit (429): none is about the request itself.
 */
const aboutUs = [401, 403, 409, 429];
const aboutParameters = /^(parameter|url_invalid)/;

function kindOf(error: StripeError): FailureKind {
  const { statusCode = 500, code = '' } = error;
  if (statusCode >= 500 || aboutUs.includes(statusCode) || isKeySpent(error)) return 'later';
  return aboutParameters.test(code) ? 'ours' : 'refused';
}

export function isRefusal(error: unknown): boolean {
  if (error instanceof StripeRefused) return true;
  return isStripeError(error) && kindOf(error) !== 'later';
}

export function refusalCode(error: unknown): string | null {
  if (!isStripeError(error) || !isRefusal(error)) return null;
  return error.code ?? 'refused';
}

/** While a request with a key runs, Stripe responds 409. */
function isKeySpent({ type, statusCode }: StripeError): boolean {
  return type === 'StripeIdempotencyError' && statusCode === 400;
}

/** 503: Stripe does not respond, or fails. */
export class StripeUnavailable extends RequestError {
  /**
   * Whether the same idempotency key fails for a day: Stripe
   * replays a stored 5xx, and takes no other parameters.
   */
  readonly replays: boolean;

  constructor(cause: StripeError) {
    super('unavailable');
    this.name = 'StripeUnavailable';
    this.cause = cause;
    this.replays = (cause.statusCode ?? 0) >= 500 || isKeySpent(cause);
  }
}

/** 409: Stripe refuses for good, whatever is repeated. */
export class StripeRefused extends RequestError {
  constructor(cause: StripeError) {
    super('paymentRefused');
    this.name = 'StripeRefused';
    this.cause = cause;
  }
}

export function isStripeFailure(error: unknown): boolean {
  if (error instanceof StripeUnavailable || error instanceof StripeRefused) return true;
  return isStripeError(error);
}

/** Throws 503 unless Stripe responds in time; 409 if it refuses. */
export async function withStripe<T>(
  settings: Settings,
  work: (stripe: Stripe) => Promise<T>,
): Promise<T> {
  try {
    return await work(await openStripe(settings));
  } catch (error) {
    if (!isStripeError(error)) throw error;

    const kind = kindOf(error);
    const isRateOrKey = error.statusCode !== 409 && aboutUs.includes(error.statusCode ?? 0);
    if (kind !== 'later' || isRateOrKey) logRefusal(error);

    if (kind === 'later') throw new StripeUnavailable(error);
    throw kind === 'refused' ? new StripeRefused(error) : error;
  }
}

function logRefusal({ statusCode: status = 0, type, code, requestId }: StripeError): void {
  log('error', 'stripe_refused', { status, type, code, requestId });
}

type StripeError = Error & {
  type: string;
  code?: string;
  param?: string;
  statusCode?: number;
  requestId?: string;
};

function isStripeError(error: unknown): error is StripeError {
  return error instanceof Error && 'type' in error && String(error.type).startsWith('Stripe');
}
