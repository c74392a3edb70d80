import type { Stripe } from 'stripe';
import { expect, it, vi } from 'vitest';
import { runCron } from './support/api.ts';
import { checkOut, pressUnseen, startTrial } from './support/buying.ts';
import { advanceClock } from './support/clock.ts';
import { newPerson, type Person, post, profileOf, usageOf } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';
import { customerOf, fetchByCron, hour, newEventsOf, postEvent, priceOf, type Tier, week } from './support/stripe.ts';

/** Stripe sends its events after each step. */
type Step = (user: Person) => Promise<unknown>;

function buys(tier: Tier): Step {
  return ({ token }) => checkOut(token, tier);
}

function buysDuringTrial(tier: Tier): Step {
  return async ({ phone, token }) => {
    await startTrial(phone, 'premium', 3);
    await checkOut(token, tier);
  };
}

function presses(action: string, form?: Record<string, string>): Step {
  return async ({ phone }) => expect((await pressUnseen(await customerOf(phone), action, form)).status).toBe(303);
}

function switchesTo(tier: Tier): Step {
  return async (user) => presses('switch', { price: await priceOf(tier) })(user);
}

function passes(seconds: number): Step {
  return ({ phone }) => sandbox.advanceStripe(phone, seconds);
}

function cardDeclines(declines: boolean): Step {
  return ({ phone }) => sandbox.card(phone, declines);
}

const day = 24 * hour;
const renewal = passes(week + 2 * hour);
const downgraded = [buys('premium'), switchesTo('basic')];
const cancelled = [buys('basic'), presses('cancel')];
// The plan is scheduled as soon as any path has seen the saved card.
const waiting = [buysDuringTrial('basic'), () => runCron()];
const failing = [buys('basic'), cardDeclines(true), renewal];

/** At the end: the plan, its status, and the plan that is scheduled. */
type Journey = [title: string, end: (string | null)[], ...steps: Step[]];

const journeys: Journey[] = [
  ['a plan is bought', ['premium', 'active', null], buys('premium')],
  ['a dearer plan begins at once', ['platinum', 'active', null], buys('basic'), switchesTo('platinum')],
  ['a cheaper plan is scheduled', ['premium', 'downgrade_scheduled', 'basic'], ...downgraded],
  ['a cheaper plan begins with the week', ['basic', 'active', null], ...downgraded, renewal],
  ['a scheduled change is undone', ['premium', 'active', null], ...downgraded, presses('release')],
  ['a cancellation is undone', ['basic', 'active', null], ...cancelled, presses('keep')],
  ['a cancellation ends the plan', ['free', 'active', null], ...cancelled, renewal],
  ['a card fails', ['basic', 'past_due', null], ...failing],
  ['a card fails and is replaced', ['basic', 'active', null], ...failing, cardDeclines(false), passes(2 * day)],
  ['a card fails for good', ['free', 'active', null], ...failing, passes(15 * day)],
  ['a plan is chosen during the trial', ['premium', 'trialing', 'basic'], buysDuringTrial('basic')],
  ['the chosen plan begins after the trial', ['basic', 'active', null], ...waiting, passes(4 * day)],
  ['a card fails after the trial', ['free', 'past_due', null], ...waiting, cardDeclines(true), passes(4 * day)],
];

type Deliver = (events: Stripe.Event[]) => Promise<unknown>;

const inOrder: Deliver = async (events) => {
  for (const event of events) await postEvent(event);
};

const twiceAndReversed: Deliver = async (events) => {
  for (const event of events.toReversed()) await Promise.all([postEvent(event), postEvent(event)]);
};

async function travel(steps: Step[], deliver?: Deliver): Promise<Person> {
  // Stripe's weeks begin with a full second: the week of a contact at that very instant would be the paid one.
  advanceClock(-500 - (Date.now() % 1000));
  const user = await newPerson();
  await post(user.phone);
  vi.useRealTimers();
  for (const step of steps) {
    await step(user);
    await deliver?.(await newEventsOf(await customerOf(user.phone)));
  }
  return user;
}

/** Everything that a user can see, except dates, which differ between runs. */
async function visibleState({ phone, token }: Person) {
  const { isTrial, messagesUsedThisPeriod, metadata } = await profileOf(token);
  const { subscriptionTier, subscriptionStatus, scheduledDowngradeTierId, renewalDate, cancelAtDate } = metadata;
  const { tier, limit, used } = await usageOf(phone);
  return {
    plan: [subscriptionTier, subscriptionStatus, scheduledDowngradeTierId],
    isTrial,
    dates: [renewalDate !== null, cancelAtDate !== null],
    allowance: [tier, limit, used, messagesUsedThisPeriod],
  };
}

it.each(journeys)('%s, whether its events come once, twice, reversed, late or never', async (_, end, ...steps) => {
  const once = await visibleState(await travel(steps, inOrder));
  expect(once).toMatchObject({ plan: end });
  const disordered = await travel(steps, twiceAndReversed);
  expect({ 'twice and reversed': await visibleState(disordered) }).toEqual({ 'twice and reversed': once });

  const unseen = await travel(steps);
  const customer = await customerOf(unseen.phone);
  await fetchByCron(customer, '0 * * * *');
  await runCron();
  expect({ never: await visibleState(unseen) }).toEqual({ never: once });
  await twiceAndReversed(await newEventsOf(customer));
  expect({ late: await visibleState(unseen) }).toEqual({ late: once });
});
