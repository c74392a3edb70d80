import { randomUUID } from 'node:crypto';
import { paidPlanIds } from '../../../worker/contract/plans.ts';
import { checkoutReturn, planPage, press, sessionIn, submit } from '../load/acts.ts';
import type { Choices } from '../person.ts';
import { add } from '../records.ts';
import type { Rig } from '../rig.ts';
import type { Answer, Json, Site } from '../site.ts';

/** The shared state of all simulated customers. */
export type Simulation = { rig: Rig; site: Site; counts: Map<string, number> };

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
    await this.bot('contacts');
    const { token } = await rig.control('POST', `/phones/${encodeURIComponent(this.phone)}/external-token`, {});
    const { body } = await site.call('sign in', 'POST', '/api/auth/verify-external-token', { body: { token } });
    this.token = String(body.token);
  }

  call(kind: string, method: string, path: string, body?: object): Promise<Answer> {
    return this.#simulation.site.call(kind, method, path, { token: this.token, ...(body && { body }) });
  }

  /** A call of the bot about this customer. */
  async bot(name: string, more: object = {}): Promise<Json> {
    const body = { phone: this.phone, ...more };
    return (await this.#simulation.site.bot(name, `/api/bot/${name}`, randomUUID(), body)).body;
  }

  /** A control call of the local Stripe about this customer; null when it refuses. */
  stripe(what: string, body?: object): Promise<Json | null> {
    const path = `/stripe/customers/${encodeURIComponent(this.phone)}/${what}`;
    return this.#simulation.rig.control('POST', path, body).catch(() => null);
  }

  /** Time passes at Stripe for this customer alone. */
  async pass(seconds: number): Promise<void> {
    await this.#simulation.rig.control('POST', '/stripe/clock', { advanceSeconds: seconds, phone: this.phone });
  }

  /** Returns whether the messages were allowed. */
  async post(count: number): Promise<boolean> {
    const usage = await this.bot('usage', { count });
    if (usage.allowed) this.allowed.set(usage.resetsAt, (this.allowed.get(usage.resetsAt) ?? 0) + count);
    return usage.allowed === true;
  }

  /** Deletes the account; returns the status of the response. */
  async leave(): Promise<number> {
    return (await this.call('leave', 'DELETE', '/api/user/me')).status;
  }
}

const cards = {
  '4242424242424242': 6,
  '4000002500003155': 2,
  '4000002760003184': 2,
  '4000000000000341': 1,
};

/** The actions of one customer in half a week. */
export async function act({ rig, counts }: Simulation, customer: Customer): Promise<void> {
  const { choices } = customer;
  const deeds = {
    plan: () => changePlan(rig, customer),
    card: () => changeCard(customer),
    fails: () => customer.stripe('card', { declines: true }),
    works: () => customer.stripe('card', { declines: false }),
    authenticate: () => customer.stripe('authenticate', { succeeds: choices.chance(0.7) }),
    look: () => customer.call('profile', 'GET', '/api/user/me'),
    talk: () => talk(customer),
    dispute: () => customer.stripe('dispute'),
    async leave() {
      customer.left = (await customer.leave()) === 200;
    },
  };
  const shares = { plan: 5, card: 2, fails: 2, works: 3, authenticate: 2, look: 2, talk: 6, dispute: 0.15, leave: 0.1 };
  const what = choices.weighted<keyof typeof deeds>(shares);
  add(counts, what);
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
  if (url?.includes('/checkout/')) return buy(customer, url);
  if (url?.includes('/portal/')) await press(rig, url, choices, { switch: 6, cancel: 2, keep: 2, release: 1 });
}

async function buy(customer: Customer, url: string): Promise<void> {
  const { choices } = customer;
  const authentication = choices.chance(0.8) ? 'complete' : 'fail';
  const sessionId = sessionIn(await submit(url, { card: choices.weighted(cards), authentication }));
  if (!sessionId || choices.chance(0.4)) return;
  await customer.call('return', 'POST', checkoutReturn, { sessionId });
}

/** Saves another card in the portal, and returns to the site. */
async function changeCard(customer: Customer): Promise<void> {
  const url = await pageFor(customer);
  if (!url?.includes('/portal/')) return;
  await submit(`${url}/card`, { card: customer.choices.weighted(cards), authentication: 'complete' });
  await customer.call('profile', 'GET', '/api/user/me');
}

/** The address of the page on which a customer buys or changes a plan. */
export async function pageFor(customer: Customer, tier?: string): Promise<string | undefined> {
  const { body } = await customer.call('plan page', 'POST', planPage, tier ? { tier } : undefined);
  return body.portalUrl as string | undefined;
}
