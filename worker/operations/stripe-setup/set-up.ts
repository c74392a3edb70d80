import type { Stripe } from 'stripe';
import { apiVersion } from '../../billing/stripe-client.ts';
import { subscribedEvents } from '../../billing/catalogue.ts';
import { paidPlanIds } from '../../contract/plans.ts';
import { ensurePortals } from './portals.ts';
import { ensurePlan, type SoldPlan } from './products.ts';

/** One line for each object, and the webhook's secret if the endpoint was created. */
export type SetupReport = { lines: string[]; webhookSecret: string | null };

/**
 * Creates or updates products, weekly prices, portal configurations and the webhook endpoint; the second run changes
 * nothing.
 */
export async function setUpStripe(stripe: Stripe, siteUrl: string): Promise<SetupReport> {
  const lines: string[] = [];
  const plans: SoldPlan[] = [];
  for (const tier of paidPlanIds) {
    const plan = await ensurePlan(stripe, tier, lines);
    if (plan) plans.push(plan);
  }
  await ensurePortals(stripe, plans, siteUrl, lines);
  const webhookSecret = await ensureWebhook(stripe, `${siteUrl}/api/webhooks/stripe`, lines);
  return { lines, webhookSecret };
}

async function ensureWebhook(stripe: Stripe, url: string, lines: string[]): Promise<string | null> {
  const enabled_events = [...subscribedEvents];
  const { data } = await stripe.webhookEndpoints.list({ limit: 100 });
  const present = data.find((endpoint) => endpoint.url === url) ?? data.find((endpoint) => movesTo(endpoint.url, url));
  if (!present) {
    const { secret } = await stripe.webhookEndpoints.create({ url, enabled_events, api_version: apiVersion });
    lines.push(`created webhook endpoint ${url}`);
    return secret ?? null;
  }
  const same =
    present.url === url &&
    present.status === 'enabled' &&
    enabled_events.length === present.enabled_events.length &&
    enabled_events.every((event) => present.enabled_events.includes(event));
  if (!same) await stripe.webhookEndpoints.update(present.id, { url, enabled_events, disabled: false });
  lines.push(`${same ? 'kept' : 'updated'} webhook endpoint ${url}`);
  return null;
}

/** On a developer's machine the endpoint follows the port. */
function movesTo(from: string, to: string): boolean {
  return [from, to].every((url) => new URL(url).hostname === 'localhost');
}
