import { runCron } from './cron.ts';
import type { JourneyUser } from './journey-user.ts';
import { sandbox } from './sandbox.ts';

const hour = 3600;
const day = 24 * hour;

export type Journey = (user: JourneyUser) => AsyncGenerator<void>;
const passes = (seconds: number) => sandbox.advanceStripe(seconds);

/** Each `yield` is a moment at which Stripe would send its events. */
export const journeys: Record<string, { way: Journey; end: unknown[] }> = {
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
      yield void (await passes(7 * day + 2 * hour));
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
      yield void (await passes(7 * day + 2 * hour));
    },
    end: ['free', 'active', null, false],
  },
  'a card fails': {
    way: async function* (user) {
      yield await user.buys('basic');
      await user.cardDeclines(true);
      yield void (await passes(7 * day + 2 * hour));
    },
    end: ['basic', 'past_due', null, false],
  },
  'a card fails and is replaced': {
    way: async function* (user) {
      yield await user.buys('basic');
      await user.cardDeclines(true);
      yield void (await passes(7 * day + 2 * hour));
      await user.cardDeclines(false);
      yield void (await passes(2 * day));
    },
    end: ['basic', 'active', null, false],
  },
  'a card fails for good': {
    way: async function* (user) {
      yield await user.buys('basic');
      await user.cardDeclines(true);
      yield void (await passes(7 * day + 2 * hour));
      yield void (await passes(15 * day));
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
      yield void (await passes(4 * day));
    },
    end: ['basic', 'active', null, false],
  },
};
