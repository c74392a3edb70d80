import { describe, expect, it } from 'vitest';
import { vars, runCron, parallel } from './support/api.ts';
import { buy, complete, newSubscriber, profileOf } from './support/buying.ts';
import { advanceClock, day } from './support/clock.ts';
import { database } from './support/database.ts';
import { newPerson } from './support/person.ts';
import { deliveredEvents, sandbox } from './support/sandbox.ts';
import { OpenStream } from './support/streams.ts';
import { deliverAtOnce, eventsOf, postEvent, customerOf, priceOf, stripe, subscriptionOf } from './support/stripe.ts';

const newId = () => `evt_${crypto.randomUUID()}`;
const shuffled = <T>(list: T[]) => list.toSorted(() => Math.random() - 0.5);

describe('an event', () => {
  it('is refused unsigned, stale, dated ahead, signed by another, or written anew', async () => {
    const { token, phone } = await newPerson();
    await complete((await buy(token, 'basic')).body.portalUrl);
    const [event] = await eventsOf(await customerOf(phone));
    advanceClock(0);
    const now = Math.floor(Date.now() / 1000);
    const text = JSON.stringify(event);
    const signature = await stripe.webhooks.generateTestHeaderStringAsync({
      payload: text,
      secret: vars.STRIPE_WEBHOOK_SECRET!,
      timestamp: now,
    });
    const answers = [
      await postEvent(event, { signature: '' }),
      await postEvent(event, { signature: 't=1,v1=00' }),
      await postEvent(event, { at: now - 301 }),
      await postEvent(event, { at: now + 302 }),
      await postEvent(event, { secret: 'whsec_another' }),
      await postEvent(JSON.stringify(event, null, 1), { signature }),
    ];
    const refused = { success: false, code: 'invalid_signature', message: 'Invalid signature' };
    for (const answer of answers) expect(answer).toEqual({ status: 400, body: refused });
    const { rows } = await database.execute({ sql: 'select 1 from stripe_events where id = ?', args: [event!.id] });
    expect(rows).toEqual([]);
    expect((await profileOf(token)).metadata.subscriptionTier).toBe('free');
  });

  it('is taken under either secret while one is rotated', async () => {
    const { customer } = await newSubscriber('basic');
    const [event] = await eventsOf(customer);
    const next = 'whsec_the-next-secret-that-is-long-enough';
    const settings = { STRIPE_WEBHOOK_SECRET: `${next} ${vars.STRIPE_WEBHOOK_SECRET}` };
    for (const secret of [next, vars.STRIPE_WEBHOOK_SECRET!]) {
      expect((await postEvent(event, { secret, settings })).status).toBe(200);
    }
    expect((await postEvent(event, { secret: next })).status).toBe(400);
  });

  it('about nobody we know, or of a kind we do not know, is received and ignored', async () => {
    const unknown = { id: newId(), object: 'event', type: 'a.new.kind', livemode: false, data: { object: {} } };
    const stranger = { ...unknown, id: newId(), data: { object: { object: 'subscription', customer: 'cus_nobody' } } };
    for (const event of [unknown, stranger]) {
      expect(await postEvent(event)).toEqual({ status: 200, body: { received: true } });
    }
  });

  it.each(['[]', '{}', '""', 'null', 'not json', '{"id":"evt_1","object":"charge"}', '{"id":1,"object":"event"}'])(
    'that is signed but none (%s) is refused as such',
    async (body) => {
      expect(await postEvent(body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    },
  );

  it('of the other mode is received and ignored', async () => {
    const { customer } = await newSubscriber('basic');
    const [event] = await eventsOf(customer);
    const live = { ...event, id: newId(), livemode: true };
    expect(await postEvent(live)).toEqual({ status: 200, body: { received: true } });
    const { rows } = await database.execute({ sql: 'select 1 from stripe_events where id = ?', args: [live.id] });
    expect(rows).toEqual([]);
  });

  it('is a 5xx while the database is down, so that Stripe sends it again', async () => {
    const { customer } = await newSubscriber('basic');
    const [event] = await eventsOf(customer);
    await sandbox.faults({ libsql: { status: 500 } });
    expect((await postEvent(event)).status).toBe(503);
    await sandbox.faults({ libsql: null });
    expect((await postEvent(event)).status).toBe(200);
  });

  it.each([{ status: 500 }, { drop: true as const }])(
    'is kept while Stripe is %o, and followed by the cron',
    async (fault) => {
      const { token, customer } = await newPayer();
      const events = (await eventsOf(customer)).slice(0, 2);
      await sandbox.faults({ stripe: { ...fault, match: customer } });
      for (const event of events) expect((await postEvent(event)).status).toBe(200);
      await runCron();
      const paid = 'select 1 from users join customers on user_id = users.id where stripe_id = ? and tier <> ?';
      expect((await database.execute({ sql: paid, args: [customer, 'free'] })).rows).toEqual([]);
      await sandbox.faults({ stripe: null });
      // The next fetch waits for up to six hours after many failures.
      advanceClock(day / 4);
      await runCron();
      expect((await profileOf(token)).metadata.subscriptionTier).toBe('basic');
    },
  );

  it.each([
    ['once', (events: unknown[]) => events],
    ['twice', (events: unknown[]) => [...events, ...events]],
    ['reversed', (events: unknown[]) => events.toReversed()],
    ['in any order', shuffled],
  ])('may come %s: the end is the same', async (_, arrange) => {
    const { token, customer } = await newSubscriber('premium');
    const { id, items } = await subscriptionOf(customer);
    const price = await priceOf('platinum');
    await stripe.subscriptions.update(id, { items: [{ id: items.data[0]!.id, price }] });
    await stripe.subscriptions.update(id, { cancel_at_period_end: true });
    const answers = await Promise.all(arrange(await eventsOf(customer)).map((event) => postEvent(event)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await profileOf(token)).metadata).toMatchObject({
      subscriptionTier: 'platinum',
      subscriptionStatus: 'cancellation_scheduled',
      cancelAtDate: new Date(items.data[0]!.current_period_end * 1000).toISOString(),
    });
  });

  it('tells open tabs and the bot of a new plan, once', async () => {
    const { token, phone, customer } = await newSubscriber('basic');
    const stream = await OpenStream.open(token);
    await stream.until(({ counts }) => counts.length === 1);
    const { id, items } = await subscriptionOf(customer);
    await stripe.subscriptions.update(id, { items: [{ id: items.data[0]!.id, price: await priceOf('premium') }] });
    for (const event of await eventsOf(customer)) await postEvent(event);
    await stream.until(({ messages }) => messages.some(({ type }) => type === 'subscription_update'));
    expect((await deliveredEvents(phone)).map(({ type, data }) => [type, data.tier])).toEqual([
      ['plan.changed', 'basic'],
      ['plan.changed', 'premium'],
    ]);
    stream.close();
  });
});

it('leads to the right state when a hundred events of many users arrive at once', async () => {
  const people = await parallel(10, newPayer);
  const events = (await Promise.all(people.map(({ customer }) => eventsOf(customer)))).flat();
  expect(events.length).toBeGreaterThan(100);
  await deliverAtOnce(shuffled(events));
  for (const { token } of people) expect((await profileOf(token)).metadata.subscriptionTier).toBe('basic');
});

/** A user who has paid, of whom no event has arrived. */
async function newPayer() {
  const person = await newPerson();
  await complete((await buy(person.token, 'basic')).body.portalUrl);
  return { ...person, customer: await customerOf(person.phone) };
}
