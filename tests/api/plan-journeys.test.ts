import { describe, expect, it } from 'vitest';
import { journeys, type Journey } from './support/plan-journeys.ts';
import { buy, complete, verify } from './support/buying.ts';
import { runCron } from './support/cron.ts';
import { database } from './support/database.ts';
import { JourneyUser } from './support/journey-user.ts';
import { newPerson } from './support/person.ts';
import { postEvent } from './support/stripe-events.ts';
import { customerOf } from './support/stripe.ts';

const ways: Record<string, (user: JourneyUser, journey: Journey) => Promise<void>> = {
  once: async (user, journey) => {
    for await (const _ of journey(user)) for (const event of await user.newEvents()) await postEvent(event);
  },
  twice: async (user, journey) => {
    for await (const _ of journey(user)) {
      const events = await user.newEvents();
      await Promise.all([...events, ...events].map((event) => postEvent(event)));
    }
  },
  reversed: async (user, journey) => {
    for await (const _ of journey(user))
      for (const event of (await user.newEvents()).toReversed()) await postEvent(event);
  },
  late: async (user, journey) => {
    for await (const _ of journey(user));
    for (const event of await user.newEvents()) await postEvent(event);
  },
  never: async (user, journey) => {
    for await (const _ of journey(user));
    await makeDue(user);
    await runCron('0 * * * *');
    await runCron();
  },
};

describe.each(Object.entries(journeys))('%s', (_, { way, end }) => {
  it('ends the same, whether its events come once, twice, reversed, late or never', async () => {
    const states: Record<string, unknown> = {};
    for (const [name, deliver] of Object.entries(ways)) {
      const user = await JourneyUser.create();
      await deliver(user, way);
      states[name] = await user.visibleState();
      await user.deletesAccount();
    }
    const { once, ...others } = states;
    expect(once).toMatchObject({ plan: end });
    for (const [name, state] of Object.entries(others)) expect({ [name]: state }).toEqual({ [name]: once });
  }, 120_000);
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
