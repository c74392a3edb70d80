import { randomUUID } from 'node:crypto';
import { paidPlanIds } from '../../../worker/contract/plans.ts';
import type { Choices } from '../person.ts';
import { add } from '../records.ts';
import type { Rig } from '../rig.ts';
import type { Answer, Json, Site } from '../site.ts';
import { planPage, sessionIn, submit } from '../load/acts.ts';

/** The shared state of all simulated customers. */
export type Simulation = { rig: Rig; site: Site; counts: Map<string, number>; seen: string[] };

/** A simulated customer. */
export class Customer {
  readonly phone: string;
  readonly choices: Choices;
  token = '';
  left = false;
  /** Allowed messages by the end of their week. */
  readonly allowed = new Map<string, number>();
  readonly #simulation: Simulation;

  constructor(index: number, choices: Choices, simulation: Simulation) {
    this.phone = `+1555${String(2_000_000 + index)}`;
    this.choices = choices;
    this.#simulation = simulation;
  }

  async arrive(): Promise<void> {
    const { rig, site } = this.#simulation;
    await site.bot('contact', '/api/bot/contacts', randomUUID(), { phone: this.phone });
    const { token } = await rig.control('POST', `${this.path('phones')}/external-token`, {});
    const { body } = await site.call('sign in', 'POST', '/api/auth/verify-external-token', { body: { token } });
    this.token = String(body.token);
  }

  call(kind: string, method: string, path: string, body?: object): Promise<Answer> {
    return this.#simulation.site.call(kind, method, path, { token: this.token, ...(body && { body }) });
  }

  /** A control call of the local Stripe about this customer; null when it refuses. */
  stripe(what: string, body?: object): Promise<Json | null> {
    return this.#simulation.rig.control('POST', `${this.path('stripe/customers')}/${what}`, body).catch(() => null);
  }

  /** Returns whether the messages were allowed. */
  async post(count: number): Promise<boolean> {
    const body = { phone: this.phone, count };
    const { body: usage } = await this.#simulation.site.bot('usage', '/api/bot/usage', randomUUID(), body);
    if (usage.allowed) this.allowed.set(usage.resetsAt, (this.allowed.get(usage.resetsAt) ?? 0) + count);
    return usage.allowed === true;
  }

  /** The plan and the week, as the bot sees them. */
  async entitlements(): Promise<Json> {
    const body = { phone: this.phone };
    return (await this.#simulation.site.bot('entitlements', '/api/bot/entitlements', randomUUID(), body)).body;
  }

  path(collection: string): string {
    return `/${collection}/${encodeURIComponent(this.phone)}`;
  }

  count(what: string): void {
    add(this.#simulation.counts, what);
  }
}

const cards = {
  '4242424242424242': 6,
  '4000002500003155': 2,
  '4000002760003184': 2,
  '4000000000000341': 1,
} as const;
const acts = {
  plan: 5,
  card: 2,
  fails: 2,
  works: 3,
  authenticate: 2,
  look: 2,
  talk: 6,
  dispute: 0.15,
  leave: 0.1,
} as const;
const buttons = { switch: 6, cancel: 2, keep: 2, release: 1 } as const;

/** The actions of one customer in half a week. */
export async function act(rig: Rig, customer: Customer): Promise<void> {
  const what = customer.choices.weighted<keyof typeof acts>(acts);
  customer.count(what);
  const deeds: Record<keyof typeof acts, () => Promise<unknown>> = {
    plan: () => changePlan(rig, customer),
    card: () => changeCard(customer),
    fails: () => customer.stripe('card', { declines: true }),
    works: () => customer.stripe('card', { declines: false }),
    authenticate: () => customer.stripe('authenticate', { succeeds: customer.choices.chance(0.7) }),
    look: () => customer.call('profile', 'GET', '/api/user/me'),
    talk: () => talk(customer),
    dispute: () => customer.stripe('dispute'),
    leave: () => leave(customer),
  };
  await deeds[what]();
}

/** Uses up to the whole allowance. */
async function talk(customer: Customer): Promise<void> {
  for (const count of [5, 20, 30, 70, 100]) await customer.post(count);
}

/** Buys a plan if there is none, else presses a button of the portal. */
async function changePlan(rig: Rig, customer: Customer): Promise<void> {
  const { choices } = customer;
  const url = await pageFor(customer, choices.pick(paidPlanIds));
  if (url?.pathname.startsWith('/checkout/')) return buy(customer, url);
  if (!url?.pathname.startsWith('/portal/')) return;
  const button = choices.weighted<keyof typeof buttons>(buttons);
  const form = { price: choices.pick([...rig.tiers.keys()]) };
  await submit(`${url.href}/${button}`, button === 'switch' ? form : {});
}

async function buy(customer: Customer, url: URL): Promise<void> {
  const { choices } = customer;
  const card = choices.weighted<keyof typeof cards>(cards);
  const authentication = choices.chance(0.8) ? 'complete' : 'fail';
  const response = await submit(url.href, { card, authentication });
  const sessionId = sessionIn(response);
  if (!sessionId || choices.chance(0.4)) return;
  await customer.call('return', 'POST', '/api/billing/verify-and-update-checkout-session', { sessionId });
}

/** Saves another card in the portal, and returns to the site. */
async function changeCard(customer: Customer): Promise<void> {
  const url = await pageFor(customer);
  if (!url?.pathname.startsWith('/portal/')) return;
  const card = customer.choices.weighted<keyof typeof cards>(cards);
  await submit(`${url.href}/card`, { card, authentication: 'complete' });
  await customer.call('profile', 'GET', '/api/user/me');
}

/** The page on which a customer buys or changes a plan. */
export async function pageFor(customer: Customer, tier?: string): Promise<URL | null> {
  const { body } = await customer.call('plan page', 'POST', planPage, tier ? { tier } : undefined);
  return body.portalUrl ? new URL(body.portalUrl as string) : null;
}

async function leave(customer: Customer): Promise<void> {
  const { status } = await customer.call('leave', 'DELETE', '/api/user/me');
  if (status === 200) customer.left = true;
}
