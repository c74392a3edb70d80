import { expect } from 'vitest';
import type { Stripe } from 'stripe';
import { insertUserWithKey, openStripe, runSql, type Fixtures } from './fixtures.ts';

/** Breaks something, and returns how to repair it. */
export type Breakage = (fixtures: Fixtures) => Promise<() => Promise<unknown>>;

async function control({ url }: Fixtures, method: 'GET' | 'PUT', path: string, body?: object): Promise<unknown> {
  const init = { method, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${url}${path}`, { ...init, headers: { 'content-type': 'application/json' } });
  expect(response.status).toBe(200);
  return response.json();
}

/** Changes what the Stripe Dashboard sets. */
export function changeDashboard(changes: object): Breakage {
  return async (fixtures) => {
    const before = (await control(fixtures, 'GET', '/stripe/dashboard')) as object;
    await control(fixtures, 'PUT', '/stripe/dashboard', changes);
    return () => control(fixtures, 'PUT', '/stripe/dashboard', before);
  };
}

export const switchCardsOff: Breakage = async (fixtures) => {
  const setCards = (preference: 'on' | 'off') =>
    openStripe(fixtures).paymentMethodConfigurations.update('pmc_1LocalStripeDefault0000', {
      card: { display_preference: { preference } },
    });
  await setCards('off');
  return () => setCards('on');
};

export const replaceWebhookByOld: Breakage = async (fixtures) => {
  const stripe = openStripe(fixtures);
  const [present] = (await stripe.webhookEndpoints.list()).data;
  const { url, enabled_events } = present!;
  const events = enabled_events as Stripe.WebhookEndpointCreateParams.EnabledEvent[];
  const create = (version: string | null) =>
    stripe.webhookEndpoints.create({
      url,
      enabled_events: events,
      ...(version && { api_version: version as Stripe.WebhookEndpointCreateParams.ApiVersion }),
    });
  await stripe.webhookEndpoints.del(present!.id);
  const old = await create('2024-06-20');
  return async () => {
    await stripe.webhookEndpoints.del(old.id);
    await create(present!.api_version);
  };
};

export const loseChatKey: Breakage = async (fixtures) => {
  await insertUserWithKey(fixtures, 'spring');
  return () => runSql(fixtures, 'delete from users');
};

export const archivePrice: Breakage = async (fixtures) => {
  const stripe = openStripe(fixtures);
  const [price] = (await stripe.prices.list({ lookup_keys: ['premium_weekly'] })).data;
  await stripe.prices.update(price!.id, { active: false });
  return () => stripe.prices.update(price!.id, { active: true });
};
