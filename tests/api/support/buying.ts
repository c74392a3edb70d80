import { botCall, call } from './api.ts';
import { newPerson, type Person } from './person.ts';
import { sandbox } from './sandbox.ts';
import { customerOf, type Tier } from './stripe.ts';

/** `since`: the creation of the user, in unix seconds by Stripe's clock. */
export type Subscriber = Person & { customer: string; since: number };

/** Requests the page to buy a plan. */
export const buy = (token: string, tier?: string) =>
  call('POST', '/api/billing/create-subscription-update-session', { token, ...(tier && { body: { tier } }) });

type CheckoutForm = { card?: string; authentication?: 'complete' | 'fail' };

/** Completes a hosted checkout, by default with a working card; returns the session's id. */
export async function complete(portalUrl: string, form: CheckoutForm = {}): Promise<string> {
  const body = new URLSearchParams(form);
  const response = await fetch(portalUrl, { method: 'POST', body, redirect: 'manual' });
  const location = response.headers.get('location');
  if (!location) throw new Error(`The checkout answered ${response.status}`);
  return new URL(location).searchParams.get('session_id')!;
}

export const verify = (token: string, sessionId: string) =>
  call('POST', '/api/billing/verify-and-update-checkout-session', { token, body: { sessionId } });

/** A user who has bought a plan and returned to the site. */
export async function newSubscriber(tier: Tier): Promise<Subscriber> {
  const { now: since } = await sandbox.stripeClock();
  const person = await newPerson();
  const { body } = await buy(person.token, tier);
  await verify(person.token, await complete(body.portalUrl));
  return { ...person, since, customer: await customerOf(person.phone) };
}

/** A user on a trial. */
export async function onTrial(tier: Tier, days = 3): Promise<Person> {
  const person = await newPerson();
  await startTrial(person.phone, tier, days);
  return person;
}

export async function startTrial(phone: string, tier: Tier, days: number): Promise<void> {
  const { body } = await botCall('/api/bot/trials', { phone, tier, days });
  const trialToken = new URL(body.url).searchParams.get('token');
  await call('POST', '/auth/verify-trial-token', { body: { trialToken } });
}

/** Presses a button of the portal. */
export async function inPortal(
  portalUrl: string,
  action: string,
  form: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${portalUrl}/${action}`, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
}

/** The profile, after the fetch from Stripe that reading it may start: that one holds the customer's lease. */
export const profileOf = async (token: string) =>
  (await call('GET', '/api/user/me', { token, settings: {} })).body.profile;
