import type { Stripe } from 'stripe';
import { Problem } from '../problem.ts';
import type { Settings } from '../settings.ts';

/** The SDK is evaluated by the first billing call of an isolate, not by every start. */
export async function openStripe(settings: Settings): Promise<Stripe> {
  const { Stripe } = await import('stripe');
  const base = new URL(settings.STRIPE_API_BASE);
  return new Stripe(settings.STRIPE_SECRET_KEY, {
    apiVersion: '2026-10-28.endive',
    host: base.hostname,
    port: base.port || (base.protocol === 'https:' ? '443' : '80'),
    protocol: base.protocol === 'https:' ? 'https' : 'http',
    httpClient: Stripe.createFetchHttpClient(),
    timeout: 8000,
    maxNetworkRetries: 1,
    telemetry: false,
  });
}

/** The answer, or null where what it is about is gone: the thing itself, or the one that the parameter names. */
export async function unlessMissing<T>(request: Promise<T>, param?: string): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (isStripeError(error) && error.code === 'resource_missing' && (!param || error.param === param)) return null;
    throw error;
  }
}

/** Stripe's own refusal of a request, as opposed to no answer. */
export function isRefusal(error: unknown): boolean {
  return isStripeError(error) && (error.statusCode ?? 500) < 500 && error.statusCode !== 429;
}

/** Runs work that needs Stripe; 503 when Stripe does not answer, is out of order, or is too busy. */
export async function withStripe<T>(settings: Settings, work: (stripe: Stripe) => Promise<T>): Promise<T> {
  try {
    return await work(await openStripe(settings));
  } catch (error) {
    if (isStripeError(error) && !isRefusal(error)) throw new Problem('unavailable');
    throw error;
  }
}

type StripeError = Error & { type: string; code?: string; param?: string; statusCode?: number };

function isStripeError(error: unknown): error is StripeError {
  return error instanceof Error && 'type' in error && String(error.type).startsWith('Stripe');
}
