import type { Stripe } from 'stripe';
import { botCall, call } from './api.ts';
import { buy, complete, profileOf } from './buying.ts';
import { deleteAccount, newPerson } from './person.ts';
import { sandbox } from './sandbox.ts';
import { eventsOf } from './stripe-events.ts';
import { customerOf, priceOf, stripe } from './stripe.ts';

/** A user on a journey through billing, as `plan-journeys.ts` lists them. */
export class JourneyUser {
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
    while (Date.now() % 1000 < 10 || Date.now() % 1000 > 900) await scheduler.wait(10);
    const { phone, token } = await newPerson();
    await botCall('/api/bot/usage', { phone });
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
  async newEvents(): Promise<Stripe.Event[]> {
    const events = await eventsOf(await customerOf(this.phone), this.#since);
    const fresh = events.filter(({ id }) => !this.#delivered.has(id));
    for (const { id } of fresh) this.#delivered.add(id);
    return fresh;
  }

  /** Deletes the account, so that its weeks do not renew while other tests advance the clock. */
  deletesAccount(): Promise<unknown> {
    return deleteAccount(this.token);
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
