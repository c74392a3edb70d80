import { Hono } from 'hono';
import type { Store } from './store.ts';

export type StripeSettings = {
  store: Store;
  sandboxUrl: string;
  siteUrl: string;
  secretKey: string;
  webhookSecret?: string;
};

type Stripe = { app: Hono; close(): void };

/** The local Stripe; nothing answers in its place while it is not complete. */
export async function loadStripe(settings: StripeSettings): Promise<Stripe> {
  const place = './stripe/index.ts';
  const stripe = (await import(place).catch(nothingThere)) as { createStripe(settings: StripeSettings): Stripe } | null;
  return stripe?.createStripe(settings) ?? { app: new Hono(), close() {} };
}

function nothingThere(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' && error.code !== 'ERR_LOAD_URL') throw error;
  return null;
}
