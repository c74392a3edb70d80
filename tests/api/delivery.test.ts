import type { Stripe } from 'stripe';
import { describe, expect, it } from 'vitest';
import { botCall, call } from './support/api.ts';
import { runCron } from './support/cron.ts';
import { database } from './support/database.ts';
import { newPerson } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';
import { buy, complete, customerOf, eventsOf, postEvent, profileOf, stripe, verify } from './support/stripe.ts';

const hour = 3600;
const day = 24 * hour;

/** A user in the middle of a journey. */
class Traveller {
  readonly phone: string;
  readonly token: string;
  readonly #told = new Set<string>();

  readonly #since: number;

  private constructor(phone: string, token: string, since: number) {
    this.phone = phone;
    this.token = token;
    this.#since = since;
  }

  static async set(): Promise<Traveller> {
    // Stripe's weeks begin with a full second: the week of a contact at that very instant would be the paid one.
    while (Date.now() % 1000 < 10 || Date.now() % 1000 > 900) await scheduler.wait(10);
    const { phone, token } = await newPerson();
    await botCall('/api/bot/usage', { phone });
    const { now } = await sandbox.stripeClock();
    return new Traveller(phone, token, now);
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
    const { data } = await stripe.prices.list({ lookup_keys: [`${tier}_weekly`] });
    await this.presses('switch', { price: data[0]!.id });
  }

  async startsTrial(tier: string, days: number): Promise<void> {
    const { body } = await botCall('/api/bot/trials', { phone: this.phone, tier, days });
    await call('POST', '/auth/verify-trial-token', {
      body: { trialToken: new URL(body.url).searchParams.get('token') },
    });
  }

  cardDeclines(declines: boolean): Promise<unknown> {
    return sandbox.card(this.phone, declines);
  }

  /** The undelivered events, oldest first. */
  async news(): Promise<Stripe.Event[]> {
    const events = await eventsOf(await customerOf(this.phone), this.#since);
    const fresh = events.filter(({ id }) => !this.#told.has(id));
    for (const { id } of fresh) this.#told.add(id);
    return fresh;
  }

  /** Deletes the account, so that its weeks do not renew while other tests advance the clock. */
  leaves(): Promise<unknown> {
    return call('DELETE', '/api/user/me', { token: this.token });
  }

  /** Everything that a user can see, except dates, which differ between runs. */
  async standing() {
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

type Journey = (who: Traveller) => AsyncGenerator<void>;
const passes = (seconds: number) => sandbox.advanceStripe(seconds);

/** Each `yield` is a moment at which Stripe would send its events. */
const journeys: Record<string, { way: Journey; end: unknown[] }> = {
  'a plan is bought': {
    way: async function* (who) {
      yield await who.buys('premium');
    },
    end: ['premium', 'active', null, false],
  },
  'a dearer plan begins at once': {
    way: async function* (who) {
      yield await who.buys('basic');
      yield await who.switchesTo('platinum');
    },
    end: ['platinum', 'active', null, false],
  },
  'a cheaper plan is scheduled': {
    way: async function* (who) {
      yield await who.buys('premium');
      yield await who.switchesTo('basic');
    },
    end: ['premium', 'downgrade_scheduled', 'basic', false],
  },
  'a cheaper plan begins with the week': {
    way: async function* (who) {
      yield await who.buys('premium');
      yield await who.switchesTo('basic');
      yield void (await passes(7 * day + 2 * hour));
    },
    end: ['basic', 'active', null, false],
  },
  'a scheduled change is taken back': {
    way: async function* (who) {
      yield await who.buys('premium');
      yield await who.switchesTo('basic');
      yield await who.presses('release');
    },
    end: ['premium', 'active', null, false],
  },
  'a cancellation is taken back': {
    way: async function* (who) {
      yield await who.buys('basic');
      yield await who.presses('cancel');
      yield await who.presses('keep');
    },
    end: ['basic', 'active', null, false],
  },
  'a cancellation ends the plan': {
    way: async function* (who) {
      yield await who.buys('basic');
      yield await who.presses('cancel');
      yield void (await passes(7 * day + 2 * hour));
    },
    end: ['free', 'active', null, false],
  },
  'a card fails': {
    way: async function* (who) {
      yield await who.buys('basic');
      await who.cardDeclines(true);
      yield void (await passes(7 * day + 2 * hour));
    },
    end: ['basic', 'past_due', null, false],
  },
  'a card fails and is mended': {
    way: async function* (who) {
      yield await who.buys('basic');
      await who.cardDeclines(true);
      yield void (await passes(7 * day + 2 * hour));
      await who.cardDeclines(false);
      yield void (await passes(2 * day));
    },
    end: ['basic', 'active', null, false],
  },
  'a card fails for good': {
    way: async function* (who) {
      yield await who.buys('basic');
      await who.cardDeclines(true);
      yield void (await passes(7 * day + 2 * hour));
      yield void (await passes(15 * day));
    },
    end: ['free', 'active', null, false],
  },
  'a plan is chosen during the trial': {
    way: async function* (who) {
      await who.startsTrial('premium', 3);
      yield await who.buys('basic');
    },
    end: ['premium', 'trialing', 'basic', true],
  },
  'the chosen plan begins after the trial': {
    way: async function* (who) {
      await who.startsTrial('premium', 3);
      yield await who.buys('basic');
      // The plan is scheduled as soon as any path has seen the saved card.
      await runCron();
      yield void (await passes(4 * day));
    },
    end: ['basic', 'active', null, false],
  },
};

const ways: Record<string, (who: Traveller, journey: Journey) => Promise<void>> = {
  once: async (who, journey) => {
    for await (const _ of journey(who)) for (const event of await who.news()) await postEvent(event);
  },
  twice: async (who, journey) => {
    for await (const _ of journey(who)) {
      const news = await who.news();
      await Promise.all([...news, ...news].map((event) => postEvent(event)));
    }
  },
  reversed: async (who, journey) => {
    for await (const _ of journey(who)) for (const event of (await who.news()).toReversed()) await postEvent(event);
  },
  late: async (who, journey) => {
    for await (const _ of journey(who));
    for (const event of await who.news()) await postEvent(event);
  },
  never: async (who, journey) => {
    for await (const _ of journey(who));
    await forget(who);
    await runCron('0 * * * *');
    await runCron();
  },
};

describe.each(Object.entries(journeys))('%s', (_, { way, end }) => {
  it('ends the same, whether its events come once, twice, reversed, late or never', async () => {
    const standings: Record<string, unknown> = {};
    for (const [name, deliver] of Object.entries(ways)) {
      const who = await Traveller.set();
      await deliver(who, way);
      standings[name] = await who.standing();
      await who.leaves();
    }
    const { once, ...others } = standings;
    expect(once).toMatchObject({ plan: end });
    for (const [name, standing] of Object.entries(others)) expect({ [name]: standing }).toEqual({ [name]: once });
  }, 120_000);
});

it('the return page alone brings the plan', async () => {
  const { token } = await newPerson();
  const session = await complete((await buy(token, 'premium')).body.portalUrl);
  expect((await verify(token, session)).body).toMatchObject({ success: true, tierUpdated: true, newTier: 'premium' });
  expect((await verify(token, session)).body).toMatchObject({ success: true, newTier: 'premium' });
});

/** Advances the clock by an hour without any call. */
async function forget({ phone }: Traveller): Promise<void> {
  const sql = 'update customers set due_at = 0, had_subscription = 1 where stripe_id = ?';
  await database.execute({ sql, args: [await customerOf(phone)] });
}
