import { describe, expect, it } from 'vitest';
import { pauseAfter } from '../../worker/billing/due.ts';
import { cronAfter, vars } from './support/api.ts';
import { checkOut, newSubscriber, verify } from './support/buying.ts';
import { advanceClock, day, eventually } from './support/clock.ts';
import { database, deliveredEvents, during, run, userRowOf } from './support/sandbox.ts';
import { newPerson, planOf } from './support/person.ts';
import { OpenStream } from './support/streams.ts';
import {
  changePrice,
  customerOf,
  deliver,
  eventsOf,
  fetchByCron,
  postEvent,
  priceOf,
  stripe,
} from './support/stripe.ts';

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
    const original = { payload: JSON.stringify(event), secret: vars.STRIPE_WEBHOOK_SECRET!, timestamp: now };
    const signature = await stripe.webhooks.generateTestHeaderStringAsync(original);
    const answers = [
      await postEvent(event, { signature: '' }),
      await postEvent(event, { signature: 't=1,v1=00' }),
      await postEvent(event, { at: now - 301 }),
      await postEvent(event, { at: now + 302 }),
      await postEvent(event, { secret: 'whsec_another' }),
      await postEvent(JSON.stringify(event, null, 1), { signature }),
    ];
    const refused = { success: false, code: 'invalid_signature', message: 'Invalid signature' };
    for (const answer of answers) expect(answer).toMatchObject({ status: 400, body: refused });
    expect(await isStored(event.id)).toBe(false);
    expect(await planOf(token)).toEqual(['free', 'active']);
  });

  it('is taken under either secret while one is rotated', async () => {
    const { event } = await newPayer();
    const next = 'whsec_the-next-secret-that-is-long-enough';
    const settings = { STRIPE_WEBHOOK_SECRET: `${next} ${vars.STRIPE_WEBHOOK_SECRET}` };
    for (const secret of [next, vars.STRIPE_WEBHOOK_SECRET!]) {
      expect((await postEvent(event, { secret, settings })).status).toBe(200);
    }
    expect((await postEvent(event, { secret: next })).status).toBe(400);
  });

  it('about nobody we know, of a kind we do not know, or of the other mode is received and ignored', async () => {
    const newId = () => `evt_${crypto.randomUUID()}`;
    const unknown = { id: newId(), object: 'event', type: 'a.new.kind', livemode: false, data: { object: {} } };
    const stranger = { ...unknown, id: newId(), data: { object: { object: 'subscription', customer: 'cus_nobody' } } };
    const live = { ...(await newPayer()).event, id: newId(), livemode: true };
    for (const event of [unknown, stranger, live]) expect(await postEvent(event)).toMatchObject(received);
    expect(await isStored(live.id)).toBe(false);
  });

  it.each(['[]', '{}', '""', 'null', 'not json', '{"id":"evt_1","object":"charge"}', '{"id":1,"object":"event"}'])(
    'that is signed but none (%s) is refused as such',
    async (body) => {
      expect(await postEvent(body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    },
  );

  it('is kept while Stripe fails, as a return from a checkout is, and followed by the cron', async () => {
    const { phone, token, session, events } = await newPayer();
    const [customer, begun] = [await customerOf(phone), Date.now()];
    await during({ stripe: { status: 500, match: customer } }, async () => {
      for (const event of events.slice(0, 2)) expect((await postEvent(event)).status).toBe(200);
      expect((await verify(token, session)).status).toBe(503);
      await eventually(async () => {
        await fetchByCron(customer);
        const { rows } = await run('select failures, due_at as due from customers where stripe_id = ?', customer);
        const [{ failures, due }] = rows as unknown as [{ failures: number; due: number }];
        expect(failures).toBeGreaterThan(5);
        expect(due).toBeGreaterThanOrEqual(begun + pauseAfter(failures));
      });
      expect(await userRowOf({ phone })).toMatchObject({ tier: 'free' });
    });
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
    expect((await deliveredEvents(phone)).map(({ type, data }) => [type, data.tier])).toEqual([
      ['plan.changed', 'basic'],
      ['plan.changed', 'premium'],
    ]);
  });
});
