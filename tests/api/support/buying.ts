import { call, type Options, type Settings } from './api.ts';
import { newPerson, type Person, trialSession } from './person.ts';
import { customerOf, priceOf, stripe, type Tier } from './stripe.ts';

export type Subscriber = Person & { customer: string };

/** Requests the page to buy a plan. */
export const buy = (
  token: string,
  tier?: string,
  more: Pick<Options, 'headers' | 'settings'> = {},
) =>
  call('POST', '/api/billing/create-subscription-update-session', {
    token,
    ...(tier && { body: { tier } }),
    ...more,
  });

type CheckoutForm = {
  card?: string;
  authentication?: 'complete' | 'fail';
};

/** Completes a hosted checkout, by default with a working card; returns the session's id. */
export async function complete(portalUrl: string, form: CheckoutForm = {}): Promise<string> {
  const body = new URLSearchParams(form);
  const response = await fetch(portalUrl, {
    method: 'POST',
    body,
    redirect: 'manual',
  });
  const location = response.headers.get('location');
  if (!location) throw new Error(`The checkout answered ${response.status}`);
  return new URL(location).searchParams.get('session_id')!;
}

/** Completes the checkout of a plan; returns the session's id. */
export const checkOut = async (token: string, tier: Tier, form?: CheckoutForm) =>
  complete((await buy(token, tier)).body.portalUrl, form);

export const verify = (token: string, sessionId: string, settings?: Settings) =>
  call('POST', '/api/billing/verify-and-update-checkout-session', {
    token,
    body: { sessionId },
    settings,
  });

/** Completes the checkout of a plan, and returns to the site. */
export const subscribe = async (token: string, tier: Tier, form?: CheckoutForm) =>
  verify(token, await checkOut(token, tier, form));

/** A person with a customer at Stripe who never paid. */
export async function newBuyer(): Promise<Subscriber> {
  const person = await newPerson();
  await buy(person.token, 'basic');
  return { ...person, customer: await customerOf(person.phone) };
}

/** A user who has bought a plan and returned to the site. */
export async function newSubscriber(tier: Tier): Promise<Subscriber> {
  const person = await newPerson();
  await subscribe(person.token, tier);
  return { ...person, customer: await customerOf(person.phone) };
}

/** What a buyer chooses in the review of an order; left out: the box is not ticked. */
export type Order = { tier: Tier; startNow?: boolean | undefined };

/** The page to which the review of an order leads. */
export async function orderPage(token: string, { tier, startNow }: Order): Promise<string> {
  const body = { tier, ...(startNow !== undefined && { startNow }) };
  const path = '/api/billing/create-subscription-update-session';
  return (await call('POST', path, { token, body })).body.portalUrl;
}

/** Buys a plan after the review of the order. */
export async function buysFrom(person: Person, order: Order): Promise<Subscriber> {
  await verify(person.token, await complete(await orderPage(person.token, order)));
  return { ...person, customer: await customerOf(person.phone) };
}

export const buyer = async (tier: Tier, startNow?: boolean): Promise<Subscriber> =>
  buysFrom(await newPerson(), { tier, startNow });

/** A user on a trial of three days. */
export async function onTrial(tier: Tier): Promise<Person> {
  const person = await newPerson();
  await trialSession(person.phone, { tier, days: 3 });
  return person;
}

/** Presses a button of a page of the portal. */
export const inPortal = (portalUrl: string, action: string, form: Record<string, string> = {}) =>
  fetch(`${portalUrl}/${action}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'manual',
  });

/** Presses a button of the portal on a visit that the site does not know. */
export async function pressUnseen(customer: string, action: string, form?: Record<string, string>) {
  const { url } = await stripe.billingPortal.sessions.create({ customer });
  return inPortal(url, action, form);
}

/** Chooses another plan on the page to which the site leads. */
export const switchPlan = async (token: string, tier: Tier) =>
  inPortal((await buy(token)).body.portalUrl, 'switch', { price: await priceOf(tier) });

export const cancel = (token: string) => call('POST', '/api/billing/cancel', { token });
export const resume = (token: string) => call('POST', '/api/billing/resume', { token });
export const withdraw = (token: string, body?: object) =>
  call('POST', '/api/billing/withdrawal', { token, body });
