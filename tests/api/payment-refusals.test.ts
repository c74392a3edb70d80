import { describe, expect, it, vi } from 'vitest';
import { call, runCron, vars } from './support/api.ts';
import { buy, newSubscriber, onTrial, verify, cancel, resume, newBuyer } from './support/buying.ts';
import { advanceClock, day } from './support/clock.ts';
import { eventTypes } from './support/contacts.ts';
import { deleteAccount, exportOf, getMe, metadataOf, planOf } from './support/person.ts';
import { intercept, logLines } from './support/requests.ts';
import { database, during } from './support/sandbox.ts';
import { fetchByCron } from './support/stripe-events.ts';
import { isDeleted, stripe, subscriptionOf } from './support/stripe.ts';
import { fullUnless } from '../long-tours.ts';

const portal = (token: string) => call('POST', '/api/billing/create-portal-session', { token });

const refused = {
  status: 409,
  body: {
    success: false,
    code: 'payment_refused',
    message: 'The payment provider refuses this. Please write to our support.',
  },
};

describe('a 4xx of Stripe that no repetition changes', () => {
  it.each([400, 402, 404, 422])('with status %i is an outcome with a way out', async (status) => {
    const { token, customer } = await newBuyer();
    const fault = {
      status,
      code: 'some_code',
      path: '/v1/checkout/sessions',
      match: customer,
    };
    await during({ stripe: fault }, async () => {
      for (let count = 0; count < 3; count += 1)
        expect(await buy(token, 'basic')).toMatchObject(refused);
    });
    expect(logLines('stripe_refused')[0]).toMatchObject({
      level: 'error',
      status,
      type: expect.stringMatching(/^Stripe/),
      code: 'some_code',
      requestId: expect.stringMatching(/^req_/),
    });
    expect(logLines('request_failed')).toEqual([]);
    expect((await buy(token, 'basic')).status).toBe(200);
  });

  it('reaches the portal and the return from a checkout, and leaves the plan as it is', async () => {
    const { token, customer } = await newSubscriber('basic');
    const { data } = await stripe.checkout.sessions.list({ customer });
    await during({ stripe: { status: 400 } }, async () => {
      expect(await portal(token)).toMatchObject(refused);
      expect(await buy(token, 'premium')).toMatchObject(refused);
      expect(await verify(token, data[0]!.id)).toMatchObject(refused);
    });
    expect(await planOf(token)).toEqual(['basic', 'active']);
  });

  it('is a defect of ours when it is about our parameters', async () => {
    const { token } = await newBuyer();
    const fault = {
      status: 400,
      code: 'parameter_unknown',
      path: '/v1/checkout/sessions',
    };
    const failed = await during({ stripe: fault }, () => buy(token, 'basic'));
    expect(failed).toMatchObject({
      status: 500,
      body: { code: 'internal' },
    });
    expect(logLines('stripe_refused')).toMatchObject([{ code: 'parameter_unknown' }]);
    expect(logLines('request_failed')).toHaveLength(1);
  });

  it('leaves the rest in the export', async () => {
    const { token, phone, customer } = await newSubscriber('basic');
    const { status, text } = await during({ stripe: { status: 400 } }, () => exportOf(token));
    expect(status).toBe(200);
    for (const part of [phone, customer, 'isRefused']) expect(text).toContain(part);
  });
});

/** A refusal in Stripe's format. */
const gone = () =>
  Response.json(
    {
      error: {
        type: 'invalid_request_error',
        message: 'No',
      },
    },
    { status: 400 },
  );

describe('cancelling and resuming', () => {
  it.each(['/v1/invoices', '/v1/subscription_schedules', '/v1/checkout/sessions', '/v1/prices'])(
    'go on while Stripe refuses %s',
    async (path) => {
      const { token, customer } = await newSubscriber('basic');
      const { renewalDate } = await metadataOf(token);
      const fault = { stripe: { status: 400, path } };
      const cancelled = await during(fault, () => cancel(token));
      expect(cancelled).toMatchObject({
        status: 200,
        body: { cancelAtDate: renewalDate },
      });
      expect((await subscriptionOf(customer)).cancel_at_period_end).toBe(true);
      expect((await during(fault, () => resume(token))).status).toBe(200);
      expect((await subscriptionOf(customer)).cancel_at_period_end).toBe(false);
    },
  );

  it('go on while Stripe refuses to be read after the change', async () => {
    const { token, customer } = await newSubscriber('basic');
    const { renewalDate } = await metadataOf(token);
    let isChanged = false;
    intercept(async (request, _, send) => {
      if (isChanged && request.method === 'GET' && request.url.includes('/v1/')) return gone();
      isChanged ||= request.method === 'POST' && request.url.includes('/v1/subscriptions/');
      return send(request);
    });
    const cancelled = await cancel(token);
    expect(cancelled).toMatchObject({
      status: 200,
      body: { cancelAtDate: renewalDate },
    });
    vi.restoreAllMocks();
    await fetchByCron(customer);
    expect(await planOf(token)).toEqual(['basic', 'cancellation_scheduled']);
  });

  it('say the way out when Stripe refuses the change itself', async () => {
    const { token, customer } = await newSubscriber('basic');
    const { id } = await subscriptionOf(customer);
    await during(
      {
        stripe: {
          status: 400,
          path: `/v1/subscriptions/${id}`,
        },
      },
      async () => {
        expect(await cancel(token)).toMatchObject(refused);
      },
    );
    expect(await cancel(token)).toMatchObject({ status: 200 });
    await during({ stripe: { status: 400 } }, async () => {
      expect(await resume(token)).toMatchObject(refused);
    });
    expect((await resume(token)).status).toBe(200);
    expect(logLines('request_failed')).toEqual([]);
  });
});

describe('leaving', () => {
  const rowsOf = async (customer: string) =>
    (await database.execute('select * from customers where stripe_id = ?', [customer])).rows;

  const paths = [
    '/v1/checkout/sessions',
    '/v1/subscriptions',
    '/v1/subscription_schedules',
    '/v1/invoices',
  ];
  for (const path of paths)
    it(
      `ends the rest while Stripe refuses ${path}`,
      fullUnless(path === '/v1/subscriptions'),
      async () => {
        const { phone, token, customer } = await newSubscriber('basic');
        const left = await during(
          {
            stripe: {
              status: 400,
              path,
            },
          },
          () => deleteAccount(token),
        );
        expect(left).toMatchObject({ status: 200, body: { success: true } });
        expect((await getMe(token)).status).toBe(401);
        expect(await eventTypes(phone)).toContain('user.deleted');
        expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
        expect(await rowsOf(customer)).toEqual([]);
      },
    );

  // `deletions.test.ts` has every refusal of everything.
  for (const [what, fault] of [
    ['everything', { status: 400 }],
    ['the deletion of the customer', { status: 400, path: '/v1/customers' }],
    ['it by a defect of ours', { status: 400, code: 'parameter_unknown' }],
  ] as const)
    it(
      `parks what is left for the owner while Stripe refuses ${what}`,
      fullUnless(what.startsWith('it ')),
      async () => {
        const { phone, token, customer } = await newSubscriber('basic');
        await during({ stripe: fault }, async () => {
          expect((await deleteAccount(token)).body).toEqual({ success: true });
          expect((await getMe(token)).status).toBe(401);
          expect(await eventTypes(phone)).toContain('user.deleted');
          const parked = { level: 'error', customer };
          expect(logLines('customer_unclosed')).toContainEqual(expect.objectContaining(parked));
          await runCron('0 * * * *');
          expect(await rowsOf(customer)).toHaveLength(1);
        });
        advanceClock(day);
        await runCron('0 * * * *');
        expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
        expect(await rowsOf(customer)).toEqual([]);
      },
    );

  it('ends the subscription while Stripe refuses to delete the customer alone', async () => {
    const { token, customer } = await newSubscriber('basic');
    const fault = { status: 400, path: `/v1/customers/${customer}` };
    await during({ stripe: fault }, () => deleteAccount(token));
    const { data } = await stripe.subscriptions.list({
      customer,
      status: 'all',
    });
    expect(data.map(({ status }) => status)).toEqual(['canceled']);
  });

  it('cancels a schedule that has not started', async () => {
    const { token, customer } = await newSubscriber('basic');
    const list = `GET ${vars.STRIPE_API_BASE}/v1/subscription_schedules?`;
    const cancel = `POST ${vars.STRIPE_API_BASE}/v1/subscription_schedules/sub_sched_1/cancel`;
    const wanted = [`customer=${customer}`, 'scheduled=true'];
    const canceled = vi.fn(() => Response.json({ id: 'sub_sched_1', status: 'canceled' }));
    // The local Stripe starts each schedule at once.
    intercept(async (request, text, send) => {
      if (text.startsWith(cancel)) return canceled();
      if (!text.startsWith(list) || !wanted.every((each) => text.includes(each)))
        return send(request);
      return Response.json({ object: 'list', data: [{ id: 'sub_sched_1' }], has_more: false });
    });
    expect((await deleteAccount(token)).status).toBe(200);
    expect(canceled).toHaveBeenCalledOnce();
    expect(await isDeleted(customer)).toBe(true);
  });

  it('of somebody on a trial, who never had a customer, asks Stripe nothing', async () => {
    const { token } = await onTrial('basic');
    const left = await during({ stripe: { status: 400 } }, () => deleteAccount(token));
    expect(left.status).toBe(200);
  });

  it('still waits for a Stripe that does not answer', { tags: ['full'] }, async () => {
    const { token } = await newSubscriber('basic');
    for (const status of [500, 503, 429])
      expect((await during({ stripe: { status } }, () => deleteAccount(token))).status).toBe(503);
    expect((await getMe(token)).status).toBe(200);
  });
});
