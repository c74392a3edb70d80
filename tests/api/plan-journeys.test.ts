import { describe, expect, it, vi } from 'vitest';
import { advanceClock } from './support/clock.ts';
import { buy, complete, profileOf, startTrial, verify } from './support/buying.ts';
import { runCron, botCall } from './support/api.ts';
import { database } from './support/database.ts';
import { newPerson } from './support/person.ts';
import { postEvent, eventsOf, customerOf, priceOf, stripe, type Tier } from './support/stripe.ts';
import { sandbox } from './support/sandbox.ts';
import type { Stripe } from 'stripe';

const hour = 3600;
const day = 24 * hour;

type Journey = (user: JourneyUser) => AsyncGenerator<void>;

/** Each `yield` is a moment at which Stripe would send its events. */
const journeys: Record<string, { way: Journey; end: unknown[] }> = {
  'a plan is bought': {
    way: async function* (user) {
      yield await user.buys('premium');
    },
    end: ['premium', 'active', null, false],
  },
  'a dearer plan begins at once': {
    way: async function* (user) {
      yield await user.buys('basic');
      yield await user.switchesTo('platinum');
    },
    end: ['platinum', 'active', null, false],
  },
  'a cheaper plan is scheduled': {
    way: async function* (user) {
      yield await user.buys('premium');
      yield await user.switchesTo('basic');
    },
    end: ['premium', 'downgrade_scheduled', 'basic', false],
  },
  'a cheaper plan begins with the week': {
    way: async function* (user) {
      yield await user.buys('premium');
      yield await user.switchesTo('basic');
      yield await user.passes(7 * day + 2 * hour);
    },
    end: ['basic', 'active', null, false],
  },
  'a scheduled change is undone': {
    way: async function* (user) {
      yield await user.buys('premium');
      yield await user.switchesTo('basic');
      yield await user.presses('release');
    },
    end: ['premium', 'active', null, false],
  },
  'a cancellation is undone': {
    way: async function* (user) {
      yield await user.buys('basic');
      yield await user.presses('cancel');
      yield await user.presses('keep');
    },
    end: ['basic', 'active', null, false],
  },
  'a cancellation ends the plan': {
    way: async function* (user) {
      yield await user.buys('basic');
      yield await user.presses('cancel');
      yield await user.passes(7 * day + 2 * hour);
    },
    end: ['free', 'active', null, false],
  },
  'a card fails': {
    way: async function* (user) {
      yield await user.buys('basic');
      await user.cardDeclines(true);
      yield await user.passes(7 * day + 2 * hour);
    },
    end: ['basic', 'past_due', null, false],
  },
  'a card fails and is replaced': {
    way: async function* (user) {
      yield await user.buys('basic');
      await user.cardDeclines(true);
      yield await user.passes(7 * day + 2 * hour);
      await user.cardDeclines(false);
      yield await user.passes(2 * day);
    },
    end: ['basic', 'active', null, false],
  },
  'a card fails for good': {
    way: async function* (user) {
      yield await user.buys('basic');
      await user.cardDeclines(true);
      yield await user.passes(7 * day + 2 * hour);
      yield await user.passes(15 * day);
    },
    end: ['free', 'active', null, false],
  },
  'a plan is chosen during the trial': {
    way: async function* (user) {
      await user.startsTrial('premium', 3);
      yield await user.buys('basic');
    },
    end: ['premium', 'trialing', 'basic', true],
  },
  'the chosen plan begins after the trial': {
    way: async function* (user) {
      await user.startsTrial('premium', 3);
      yield await user.buys('basic');
      // The plan is scheduled as soon as any path has seen the saved card.
      await runCron();
      yield await user.passes(4 * day);
    },
    end: ['basic', 'active', null, false],
  },
};

type Deliver = (events: Stripe.Event[]) => Promise<unknown>;

const inOrder: Deliver = async (events) => {
  for (const event of events) await postEvent(event);
};

const twiceAndReversed: Deliver = async (events) => {
  for (const event of events.toReversed()) await Promise.all([postEvent(event), postEvent(event)]);
};

async function travel(journey: Journey, deliver?: Deliver): Promise<JourneyUser> {
  const user = await JourneyUser.create();
  for await (const _ of journey(user)) await deliver?.(await user.newEvents());
  return user;
}

describe.each(Object.entries(journeys))('%s', (_, { way, end }) => {
  it('ends the same, whether its events come once, twice, reversed, late or never', async () => {
    const once = await (await travel(way, inOrder)).visibleState();
    expect(once).toMatchObject({ plan: end });
    const disordered = await travel(way, twiceAndReversed);
    expect({ 'twice and reversed': await disordered.visibleState() }).toEqual({ 'twice and reversed': once });

    const unseen = await travel(way);
    await makeDue(unseen);
    await runCron('0 * * * *');
    await runCron();
    expect({ never: await unseen.visibleState() }).toEqual({ never: once });
    await twiceAndReversed(await unseen.newEvents());
    expect({ late: await unseen.visibleState() }).toEqual({ late: once });
  }, 180_000);
});

it('the return page alone brings the plan', async () => {
  const { token } = await newPerson();
  const session = await complete((await buy(token, 'premium')).body.portalUrl);
  expect((await verify(token, session)).body).toMatchObject({ success: true, tierUpdated: true, newTier: 'premium' });
  expect((await verify(token, session)).body).toMatchObject({ success: true, newTier: 'premium' });
});

/** Makes the customer due, as an hour without any event does. */
async function makeDue({ phone }: JourneyUser): Promise<void> {
  const sql = 'update customers set due_at = 0, had_subscription = 1 where stripe_id = ?';
  await database.execute({ sql, args: [await customerOf(phone)] });
}

/** A user on a journey through billing. */
class JourneyUser {
  readonly phone: string;
  readonly token: string;
  readonly #delivered = new Set<string>();

  readonly #since: number;

  private constructor(phone: string, token: string, since: number) {
    this.phone = phone;
    this.token = token;
    this.#since = since;
  }

  static async create(): Promise<JourneyUser> {
    // Stripe's weeks begin with a full second: the week of a contact at that very instant would be the paid one.
    advanceClock(-500 - (Date.now() % 1000));
    const { phone, token } = await newPerson();
    await botCall('/api/bot/usage', { phone });
    vi.useRealTimers();
    const { now } = await sandbox.stripeClock();
    return new JourneyUser(phone, token, now);
  }

  async buys(tier: string): Promise<void> {
    await complete((await buy(this.token, tier)).body.portalUrl);
  }

  async presses(action: string, form: Record<string, string> = {}): Promise<void> {
    const { url } = await stripe.billingPortal.sessions.create({ customer: await customerOf(this.phone) });
    const init = { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' } as const;
    const { status } = await fetch(`${url}/${action}`, init);
    if (status !== 303) throw new Error(`${action} answered ${status}`);
  }

  async switchesTo(tier: string): Promise<void> {
    await this.presses('switch', { price: await priceOf(tier) });
  }

  async startsTrial(tier: Tier, days: number): Promise<void> {
    await startTrial(this.phone, tier, days);
  }

  async passes(seconds: number): Promise<void> {
    await sandbox.advanceStripe(this.phone, seconds);
  }

  cardDeclines(declines: boolean): Promise<unknown> {
    return sandbox.card(this.phone, declines);
  }

  /** The undelivered events, oldest first. */
  async newEvents(): Promise<Stripe.Event[]> {
    const events = await eventsOf(await customerOf(this.phone), this.#since);
    const fresh = events.filter(({ id }) => !this.#delivered.has(id));
    for (const { id } of fresh) this.#delivered.add(id);
    return fresh;
  }

  /** Everything that a user can see, except dates, which differ between runs. */
  async visibleState() {
    const { isTrial, messagesUsedThisPeriod, metadata } = await profileOf(this.token);
    const { subscriptionTier, subscriptionStatus, scheduledDowngradeTierId } = metadata;
    const { body } = await botCall('/api/bot/entitlements', { phone: this.phone });
    return {
      plan: [subscriptionTier, subscriptionStatus, scheduledDowngradeTierId, isTrial],
      dates: [metadata.renewalDate !== null, metadata.cancelAtDate !== null],
      allowance: [body.tier, body.limit, body.used, messagesUsedThisPeriod],
    };
  }
}
