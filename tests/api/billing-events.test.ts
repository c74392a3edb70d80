import type { Stripe } from 'stripe';
import { describe, expect, it, vi } from 'vitest';
import { pauseAfter } from '../../worker/billing/sync-times.ts';
import { cronAfter, runCron, vars } from './support/api.ts';
import { checkOut, newSubscriber, pressUnseen, verify } from './support/buying.ts';
import { advanceClock, day, eventually } from './support/clock.ts';
import { post, usageOf } from './support/contacts.ts';
import { newPerson, type Person, planOf, profileOf, trialSession } from './support/person.ts';
import { database, deliveredEvents, during, run, sandbox, userRowOf } from './support/sandbox.ts';
import { OpenStream } from './support/streams.ts';
import {
  deliver,
  eventsOf,
  fetchByCron,
  hour,
  newEventsOf,
  postEvent,
  week,
} from './support/stripe-events.ts';
import { changePrice, customerOf, priceOf, stripe, type Tier } from './support/stripe.ts';

const received = { status: 200, body: { received: true } };
const isStored = async (id: string) =>
  (await database.execute('select 1 from stripe_events where id = ?', [id])).rows.length > 0;

/** A user who has paid, of whom no event has arrived. */
async function newPayer() {
  const person = await newPerson();
  const session = await checkOut(person.token, 'basic');
  const events = await eventsOf(await customerOf(person.phone));
  return { ...person, session, events, event: events[0]! };
}

describe('an event', () => {
  it('is refused unsigned, stale, dated ahead, signed by another, or written anew', async () => {
    const { token, event } = await newPayer();
    advanceClock(0);
    const now = Math.floor(Date.now() / 1000);
    const original = {
      payload: JSON.stringify(event),
      secret: vars.STRIPE_WEBHOOK_SECRET!,
      timestamp: now,
    };
    const signature = await stripe.webhooks.generateTestHeaderStringAsync(original);
    const answers = [
      await postEvent(event, { signature: '' }),
      await postEvent(event, { signature: 't=1,v1=00' }),
      await postEvent(event, { at: now - 301 }),
      await postEvent(event, { at: now + 302 }),
      await postEvent(event, { secret: 'whsec_another' }),
      await postEvent(JSON.stringify(event, null, 1), { signature }),
    ];
    const refused = {
      success: false,
      code: 'invalid_signature',
      message: 'Invalid signature',
    };
    for (const answer of answers)
      expect(answer).toMatchObject({
        status: 400,
        body: refused,
      });
    expect(await isStored(event.id)).toBe(false);
    expect(await planOf(token)).toEqual(['free', 'active']);
  });

  it('is taken under either secret while one is rotated', async () => {
    const { event } = await newPayer();
    const next = 'whsec_the-next-secret-that-is-long-enough';
    const settings = { STRIPE_WEBHOOK_SECRET: `${next} ${vars.STRIPE_WEBHOOK_SECRET}` };
    for (const secret of [next, vars.STRIPE_WEBHOOK_SECRET!])
      expect(
        (
          await postEvent(event, {
            secret,
            settings,
          })
        ).status,
      ).toBe(200);
    expect((await postEvent(event, { secret: next })).status).toBe(400);
  });

  it('about nobody we know, of a kind we do not know, or of the other mode is received and ignored', async () => {
    const newId = () => `evt_${crypto.randomUUID()}`;
    const unknown = {
      id: newId(),
      object: 'event',
      type: 'a.new.kind',
      livemode: false,
      data: { object: {} },
    };
    const stranger = {
      ...unknown,
      id: newId(),
      data: {
        object: {
          object: 'subscription',
          customer: 'cus_nobody',
        },
      },
    };
    const live = {
      ...(await newPayer()).event,
      id: newId(),
      livemode: true,
    };
    for (const event of [unknown, stranger, live])
      expect(await postEvent(event)).toMatchObject(received);
    expect(await isStored(live.id)).toBe(false);
  });

  it('that is signed but none is refused as such', async () => {
    for (const body of [
      '[]',
      '{}',
      '""',
      'null',
      'not json',
      '{"id":"evt_1","object":"charge"}',
      '{"id":1,"object":"event"}',
    ])
      expect(await postEvent(body), body).toMatchObject({
        status: 400,
        body: { code: 'invalid_body' },
      });
  });

  it('is kept while Stripe fails, as a return from a checkout is, and followed by the cron', async () => {
    const { phone, token, session, events } = await newPayer();
    const [customer, begun] = [await customerOf(phone), Date.now()];
    await during(
      {
        stripe: {
          status: 500,
          match: customer,
        },
      },
      async () => {
        for (const event of events.slice(0, 2)) expect((await postEvent(event)).status).toBe(200);
        expect((await verify(token, session)).status).toBe(503);
        await eventually(async () => {
          await fetchByCron(customer);
          const { rows } = await run(
            'select failures, due_at as due from customers where stripe_id = ?',
            customer,
          );
          const [{ failures, due }] = rows as unknown as [
            {
              failures: number;
              due: number;
            },
          ];
          expect(failures).toBeGreaterThan(3);
          expect(due).toBeGreaterThanOrEqual(begun + pauseAfter(failures));
        });
        expect(await userRowOf({ phone })).toMatchObject({ tier: 'free' });
      },
    );
    // The next fetch waits for up to six hours after many failures.
    await cronAfter(day / 4);
    expect(await planOf(token)).toEqual(['basic', 'active']);
  });

  it('tells open tabs and the bot of a new plan, once', async () => {
    const { token, phone, customer } = await newSubscriber('basic');
    const stream = await OpenStream.opened(token);
    await changePrice(customer, await priceOf('premium'));
    await deliver(customer);
    await stream.until(({ events }) => events.some(({ type }) => type === 'subscription_update'));
    const told = (await deliveredEvents(phone)).map(
      ({ type, data }) => `${type} ${String(data.tier)}`,
    );
    expect(told).toEqual(['plan.changed basic', 'plan.changed premium']);
  });
});

/** Stripe sends its events after each step. */
type Step = (user: Person) => Promise<unknown>;

function buys(tier: Tier): Step {
  return ({ token }) => checkOut(token, tier);
}

function buysDuringTrial(tier: Tier): Step {
  return async ({ phone, token }) => {
    await trialSession(phone, { tier: 'premium', days: 3 });
    await checkOut(token, tier);
  };
}

function presses(action: string, form?: Record<string, string>): Step {
  return async ({ phone }) =>
    expect((await pressUnseen(await customerOf(phone), action, form)).status).toBe(303);
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
  [
    'a dearer plan begins at once',
    ['platinum', 'active', null],
    buys('basic'),
    switchesTo('platinum'),
  ],
  ['a cheaper plan is scheduled', ['premium', 'downgrade_scheduled', 'basic'], ...downgraded],
  ['a cheaper plan begins with the week', ['basic', 'active', null], ...downgraded, renewal],
  ['a scheduled change is undone', ['premium', 'active', null], ...downgraded, presses('release')],
  ['a cancellation is undone', ['basic', 'active', null], ...cancelled, presses('keep')],
  ['a cancellation ends the plan', ['free', 'active', null], ...cancelled, renewal],
  ['a card fails', ['basic', 'past_due', null], ...failing],
  [
    'a card fails and is replaced',
    ['basic', 'active', null],
    ...failing,
    cardDeclines(false),
    passes(2 * 24 * hour),
  ],
  ['a card fails for good', ['free', 'active', null], ...failing, passes(15 * 24 * hour)],
  ['a plan is chosen during the trial', ['premium', 'trialing', 'basic'], buysDuringTrial('basic')],
  [
    'the chosen plan begins after the trial',
    ['basic', 'active', null],
    ...waiting,
    passes(4 * 24 * hour),
  ],
  [
    'a card fails after the trial',
    ['free', 'past_due', null],
    ...waiting,
    cardDeclines(true),
    passes(4 * 24 * hour),
  ],
];

type Deliver = (events: Stripe.Event[]) => Promise<unknown>;

const inOrder: Deliver = async (events) => {
  for (const event of events) await postEvent(event);
};

const twiceAndReversed: Deliver = async (events) => {
  for (const event of events.toReversed()) await Promise.all([postEvent(event), postEvent(event)]);
};

async function travel(steps: Step[], delivery?: Deliver): Promise<Person> {
  // Stripe's weeks begin with a full second: the week of a contact at that very instant would be the paid one.
  advanceClock(-500 - (Date.now() % 1000));
  const user = await newPerson();
  await post(user.phone);
  vi.useRealTimers();
  for (const step of steps) {
    await step(user);
    await delivery?.(await newEventsOf(await customerOf(user.phone)));
  }
  return user;
}

/** Everything that a user can see, except dates, which differ between runs. */
async function visibleState({ phone, token }: Person) {
  const { isTrial, messagesUsedThisPeriod, metadata } = await profileOf(token);
  const {
    subscriptionTier,
    subscriptionStatus,
    scheduledDowngradeTierId,
    renewalDate,
    cancelAtDate,
  } = metadata;
  const { tier, limit, used } = await usageOf(phone);
  return {
    plan: [subscriptionTier, subscriptionStatus, scheduledDowngradeTierId],
    isTrial,
    dates: [renewalDate !== null, cancelAtDate !== null],
    allowance: [tier, limit, used, messagesUsedThisPeriod],
  };
}

/** The others take long, and repeat what these and other tests prove. */
const chosen = new Set(['a dearer plan begins at once', 'a cancellation ends the plan']);
const isChosen = ([journey]: Journey) => chosen.has(journey);
const title = '%s, whether its events come once, twice, reversed, late or never';

it.each(journeys.filter(isChosen))(title, endsAlike);
it.each(journeys.filter((each) => !isChosen(each)))(title, { tags: 'full' }, endsAlike);

async function endsAlike(...[, end, ...steps]: Journey): Promise<void> {
  const once = await visibleState(await travel(steps, inOrder));
  expect(once).toMatchObject({ plan: end });
  const disordered = await travel(steps, twiceAndReversed);
  expect({ 'twice and reversed': await visibleState(disordered) }).toEqual({
    'twice and reversed': once,
  });
  const unseen = await travel(steps);
  const customer = await customerOf(unseen.phone);
  await fetchByCron(customer, '0 * * * *');
  await runCron();
  expect({ never: await visibleState(unseen) }).toEqual({ never: once });
  await twiceAndReversed(await newEventsOf(customer));
  expect({ late: await visibleState(unseen) }).toEqual({ late: once });
}
