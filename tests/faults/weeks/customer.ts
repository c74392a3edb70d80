import { randomUUID } from 'node:crypto';
import { paidPlanIds } from '../../../worker/contract/plans.ts';
import { press, sessionIn, submit } from '../load/journey.ts';
import { type Choices, Person } from '../person.ts';
import { add } from '../records.ts';
import type { Rig } from '../rig.ts';
import type { Answer, BotCall, Call, Json, Site } from '../site.ts';

export type Simulation = {
  rig: Rig;
  site: Site;
  counts: Map<string, number>;
};

export class Customer extends Person {
  /** Allowed messages by the end of their week. */
  readonly allowed = new Map<string, number>();
  readonly #simulation: Simulation;

  constructor(index: number, choices: Choices, simulation: Simulation) {
    super(1_000_000 + index, 'subscriber', choices);
    this.#simulation = simulation;
  }

  async arrive(): Promise<void> {
    const { rig, site } = this.#simulation;
    await this.bot('botContacts');
    const { token } = await rig.control(
      'POST',
      `/phones/${encodeURIComponent(this.phone)}/external-token`,
      {},
    );
    const { body } = await site.call('verifyExternalToken', { body: { token } });
    this.token = String(body.token);
  }

  call(name: Call, body?: object): Promise<Answer> {
    return this.#simulation.site.call(name, { token: this.token, body });
  }

  async bot(name: BotCall, more: object = {}): Promise<Json> {
    return (
      await this.#simulation.site.bot(name, randomUUID(), {
        phone: this.phone,
        ...more,
      })
    ).body;
  }

  /** A control call of the local Stripe about this customer; null when it refuses. */
  stripe(what: string, body?: object): Promise<Json | null> {
    const path = `/stripe/customers/${encodeURIComponent(this.phone)}/${what}`;
    return this.#simulation.rig.control('POST', path, body).catch(() => null);
  }

  /** Time passes at Stripe for this customer alone. */
  async pass(seconds: number): Promise<void> {
    await this.#simulation.rig.control('POST', '/stripe/clock', {
      advanceSeconds: seconds,
      phone: this.phone,
    });
  }

  async post(count: number): Promise<boolean> {
    const usage = await this.bot('botUsage', { count });
    if (usage.allowed)
      this.allowed.set(usage.resetsAt, (this.allowed.get(usage.resetsAt) ?? 0) + count);
    return usage.allowed === true;
  }
}

/** They pay, need one authentication, need one for each payment, or are declined after they were saved. */
const cards = {
  '4242424242424242': 6,
  '4000002500003155': 2,
  '4000002760003184': 2,
  '4000000000000341': 1,
};

export async function act({ rig, counts }: Simulation, customer: Customer): Promise<void> {
  const { choices } = customer;
  const deeds = {
    plan: () => changePlan(rig, customer),
    card: () => changeCard(customer),
    fails: () => customer.stripe('card', { declines: true }),
    works: () => customer.stripe('card', { declines: false }),
    authenticate: () => customer.stripe('authenticate', { succeeds: choices.chance(0.7) }),
    look: () => customer.call('getMe'),
    async talk() {
      for (const count of [5, 20, 30, 70, 100]) await customer.post(count);
    },
    dispute: () => customer.stripe('dispute'),
    async leave() {
      customer.left = (await customer.call('deleteMe')).status === 200;
    },
  };
  const shares = {
    plan: 5,
    card: 2,
    fails: 2,
    works: 3,
    authenticate: 2,
    look: 2,
    talk: 6,
    dispute: 0.15,
    leave: 0.1,
  };
  const what = choices.weighted<keyof typeof deeds>(shares);
  add(counts, what);
  await deeds[what]();
}

async function changePlan(rig: Rig, customer: Customer): Promise<void> {
  const { choices } = customer;
  const url = await pageFor(customer, choices.pick(paidPlanIds));
  if (url?.includes('/checkout/')) return buy(customer, url);
  if (url?.includes('/portal/'))
    await press(rig, url, choices, {
      switch: 6,
      cancel: 2,
      keep: 2,
      release: 1,
    });
}

async function buy(customer: Customer, url: string): Promise<void> {
  const { choices } = customer;
  const authentication = choices.chance(0.8) ? 'complete' : 'fail';
  const sessionId = sessionIn(
    await submit(url, {
      card: choices.weighted(cards),
      authentication,
    }),
  );
  if (!sessionId || choices.chance(0.4)) return;
  await customer.call('verifyCheckoutSession', { sessionId });
}

async function changeCard(customer: Customer): Promise<void> {
  const url = await pageFor(customer);
  if (!url?.includes('/portal/')) return;
  await submit(`${url}/card`, {
    card: customer.choices.weighted(cards),
    authentication: 'complete',
  });
  await customer.call('getMe');
}

export async function pageFor(customer: Customer, tier?: string): Promise<string | undefined> {
  const { body } = await customer.call(
    'createSubscriptionUpdateSession',
    tier ? { tier } : undefined,
  );
  return body.portalUrl as string | undefined;
}
