import { describe, expect, it } from 'vitest';
import { returnedPayments } from '../../worker/operations/support/user-description.ts';
import { runCron } from './support/api.ts';
import { buy, newSubscriber, subscribe } from './support/buying.ts';
import { eventually } from './support/clock.ts';
import { newPhone } from './support/contacts.ts';
import { deleteAccount, planOf, userOf } from './support/person.ts';
import { intercept, logLines } from './support/requests.ts';
import { database, during, sandbox } from './support/sandbox.ts';
import { deliver, eventsOf, hour, postEvent } from './support/stripe-events.ts';
import { holdLease, priceOf, stripe, subscriptionOf } from './support/stripe.ts';

/** The events about a dispute or charge, which do not contain our customer. */
async function eventsAbout(type: string, id: string) {
  const { data } = await stripe.events.list({ type, limit: 100 });
  return data.filter(({ data: { object } }) => (object as { id: string }).id === id);
}

it.each([401, 403, 429])(
  'a call that Stripe refuses with %i is logged once, with its status',
  async (status) => {
    const { token, customer } = await newSubscriber('basic');
    const [event] = await eventsOf(customer);
    const fault = { stripe: { status, match: customer } };
    expect((await during(fault, () => buy(token, 'premium'))).status).toBe(503);
    expect(logLines('stripe_refused')).toMatchObject([{ level: 'error', status }]);
    await during(fault, () =>
      postEvent({
        ...event,
        id: `evt_${customer}_${status}`,
      }),
    );
    expect(logLines('sync_postponed')).toMatchObject([{ error: 'StripeUnavailable', failures: 2 }]);
  },
);

it('events that arrive after the account was deleted bring nothing back', async () => {
  const { phone, token, customer } = await newSubscriber('premium');
  const late = await eventsOf(customer);
  expect((await deleteAccount(token)).status).toBe(200);
  for (const event of late) expect((await postEvent(event)).status).toBe(200);
  const sql =
    'select 1 from users where phone = ? union all select 1 from customers where stripe_id = ?';
  expect((await database.execute(sql, [phone, customer])).rows).toEqual([]);
  expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
});

it('a returned payment is logged and listed for the owner, and a refund of it ends nothing by itself', async () => {
  const { phone, token, customer } = await newSubscriber('basic');
  const charge = (await stripe.charges.list({ customer })).data[0]!.id;
  for (const amount of [500, 699])
    await stripe.refunds.create({
      charge,
      amount,
    });
  await deliver(customer);
  for (const event of await eventsAbout('charge.refunded', charge)) await postEvent(event);
  for (const refunded of [500, 1199])
    expect(logLines('payment_refunded')).toContainEqual(
      expect.objectContaining({
        level: 'error',
        customer,
        charge,
        refunded,
      }),
    );
  expect(await planOf(token)).toEqual(['basic', 'active']);
  await sandbox.dispute(phone);
  const returned = {
    charge,
    refunded: 1199,
    disputes: [expect.any(String)],
  };
  expect(await returnedPayments(stripe, customer)).toMatchObject([returned]);
});

it('a page whose customer another request has taken meanwhile keeps nothing', async () => {
  const { token, customer } = await newSubscriber('basic');
  const kept = async () => {
    const sql = `select billing_watch_until, (select count(*) from purchase_choices
      where user_id = users.id) from users where id = ?`;
    return (await database.execute(sql, [userOf(token)])).rows;
  };
  const before = await kept();
  await sandbox.faults({ stripe: { hold: true, match: customer } });
  const page = buy(token, 'premium');
  await eventually(async () => expect(await sandbox.heldBy(customer)).toBeGreaterThan(0));
  await holdLease(customer, Date.now() + 60_000);
  await sandbox.faults({ stripe: null });
  expect((await page).status).toBe(503);
  expect(await kept()).toEqual(before);
  await holdLease(customer, 0);
});

it('a refund is logged once, also while another request holds the customer', async () => {
  const { customer } = await newSubscriber('basic');
  const charge = (await stripe.charges.list({ customer })).data[0]!.id;
  await deliver(customer);
  await stripe.refunds.create({ charge, amount: 500 });
  const [event] = await eventsAbout('charge.refunded', charge);
  await holdLease(customer, Date.now() + 60_000);
  const logged = () => logLines('payment_refunded').filter((line) => line['charge'] === charge);
  expect((await postEvent(event!)).status).toBe(200);
  expect(logged()).toHaveLength(1);
  await holdLease(customer, 0);
  expect((await postEvent(event!)).status).toBe(200);
  expect(logged()).toHaveLength(1);
});

describe('a disputed payment', () => {
  /** Disputes the last payment, or the one of a charge. */
  async function dispute(phone: string, charge?: string) {
    const { id } = await sandbox.dispute(phone, charge);
    const [event] = await eventsAbout('charge.dispute.created', id);
    return { id, event: event! };
  }

  async function disputed() {
    const person = await newSubscriber('basic');
    return { ...person, ...(await dispute(person.phone)) };
  }

  /** Stripe shows the dispute with another status, until the spy is restored. */
  const showAs = (id: string, status: string) =>
    intercept(async (request, _, send) => {
      const response = await send(request);
      if (!request.url.includes(`/v1/disputes/${id}`)) return response;
      return Response.json({
        ...(await response.json<object>()),
        status,
      });
    });

  it('that begins as an inquiry is logged again when it ends the subscription', async () => {
    const { customer, id, event } = await disputed();
    const inquiry = showAs(id, 'warning_needs_response');
    await postEvent(event);
    inquiry.mockRestore();
    for (const type of ['charge.dispute.updated', 'charge.dispute.funds_withdrawn'])
      expect(
        (
          await postEvent({
            ...event,
            id: `evt_${id}${type}`,
            type,
          })
        ).status,
      ).toBe(200);
    expect((await subscriptionOf(customer)).status).toBe('canceled');
    const lines = logLines('payment_disputed').filter(({ dispute: logged }) => logged === id);
    expect(lines.map(({ action }) => String(action))).toEqual([
      expect.stringContaining('Answer the dispute'),
      expect.stringContaining('was canceled'),
    ]);
  });

  it('ends its subscription at once, or when Stripe responds', async () => {
    const { token, customer, id, event } = await disputed();
    expect(
      (
        await during(
          {
            stripe: {
              status: 500,
              match: id,
            },
          },
          () => postEvent(event),
        )
      ).status,
    ).toBe(503);
    expect((await postEvent(event)).status).toBe(200);
    expect((await subscriptionOf(customer)).status).toBe('canceled');
    expect(await planOf(token)).toEqual(['free', 'active']);
    expect(logLines('payment_disputed')).toContainEqual(
      expect.objectContaining({ customer, dispute: id }),
    );
  });

  it('ends the subscription within the hour when its event is lost', async () => {
    const { token, id } = await disputed();
    await runCron('0 * * * *');
    expect(await planOf(token)).toEqual(['free', 'active']);
    expect(logLines('payment_disputed')).toContainEqual(expect.objectContaining({ dispute: id }));
  });

  it.each([
    ['ON_DISPUTE=keep', { ON_DISPUTE: 'keep' }, null],
    ['an inquiry, which takes no money', {}, 'warning_needs_response'],
    ['one that was won', {}, 'won'],
  ])('is logged and keeps the subscription with %s', async (_, settings, status) => {
    const { token, customer, id, event } = await disputed();
    if (status) showAs(id, status);
    expect((await postEvent(event, { settings })).status).toBe(200);
    expect((await subscriptionOf(customer)).status).toBe('active');
    expect(await planOf(token)).toEqual(['basic', 'active']);
    expect(logLines('payment_disputed')).toContainEqual(
      expect.objectContaining({ customer, dispute: id }),
    );
  });

  it('ends only the subscription that it paid for, and is logged once', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    const [first] = (await stripe.charges.list({ customer })).data;
    await stripe.subscriptions.cancel((await subscriptionOf(customer)).id);
    await sandbox.advanceStripe(phone, 30 * 24 * hour);
    await runCron();
    await subscribe(token, 'premium');
    await sandbox.advanceStripe(phone, 5 * 24 * hour);
    const { id, event } = await dispute(phone, first!.id);
    for (const type of [
      'charge.dispute.created',
      'charge.dispute.funds_withdrawn',
      'charge.dispute.updated',
    ]) {
      expect(
        (
          await postEvent({
            ...event,
            id: `evt_${id}${type}`,
            type,
          })
        ).status,
      ).toBe(200);
      await runCron('0 * * * *');
    }
    expect((await subscriptionOf(customer)).status).toBe('active');
    expect(await planOf(token)).toEqual(['premium', 'active']);
    expect(
      logLines('payment_disputed').filter(({ dispute: logged }) => logged === id),
    ).toHaveLength(1);
  });

  it('of somebody who is not ours is ignored', async () => {
    const phone = newPhone();
    const { id: customer } = await stripe.customers.create({ phone });
    const { id: card } = await stripe.paymentMethods.attach('pm_card_visa', { customer });
    const items = [{ price: await priceOf('basic') }];
    const { id } = await stripe.subscriptions.create({
      customer,
      items,
      default_payment_method: card,
    });
    const { event } = await dispute(phone);
    expect((await postEvent(event)).status).toBe(200);
    expect((await stripe.subscriptions.retrieve(id)).status).toBe('active');
  });
});
