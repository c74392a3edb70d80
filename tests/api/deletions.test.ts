import { describe, expect, it } from 'vitest';
import { botCall, call, cronAfter, runCron } from './support/api.ts';
import { newSubscriber } from './support/buying.ts';
import { advanceClock, day, minute } from './support/clock.ts';
import { newBusinessUserId } from './support/contacts.ts';
import { deleteAccount, getMe, newPerson, planOf, userOf } from './support/person.ts';
import { cutFirst, intercept, logLines, startHeld } from './support/requests.ts';
import { deliveredEvents, during, run, sandbox } from './support/sandbox.ts';
import { isDeleted, priceOf, stripe, subscriptionOf } from './support/stripe.ts';
import { fullUnless } from '../long-tours.ts';

describe('a deletion that Cloudflare cuts off', () => {
  const deletionBeganAt = async (token: string) =>
    (await run('select deletion_began_at from customers where user_id = ?', userOf(token))).rows[0]
      ?.deletion_began_at;

  it('is finished by the cron job', async () => {
    advanceClock(0);
    const { token, customer } = await newSubscriber('basic');
    const { arrived } = cutFirst('/v1/', customer);
    void deleteAccount(token).catch(() => undefined);
    await arrived();
    expect(await deletionBeganAt(token)).toEqual(expect.any(Number));

    await cronAfter(minute);
    expect((await getMe(token)).status).toBe(200);
    await cronAfter(2 * minute);
    expect((await getMe(token)).status).toBe(401);
    expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
    expect(await deletionBeganAt(token)).toBeUndefined();
  });

  it('is not one that was refused: whoever was told so stays', async () => {
    advanceClock(0);
    const { token } = await newSubscriber('basic');
    const fault = { stripe: { status: 503 } };
    expect((await during(fault, () => deleteAccount(token))).status).toBe(503);
    expect(await deletionBeganAt(token)).toBeNull();
    await cronAfter(5 * minute);
    expect((await getMe(token)).status).toBe(200);
  });

  it('stays begun while Stripe does not respond to the cron job', async () => {
    advanceClock(0);
    const { token, customer } = await newSubscriber('basic');
    const { arrived } = cutFirst('/v1/', customer);
    void deleteAccount(token).catch(() => undefined);
    await arrived();
    await during({ stripe: { status: 503 } }, () => cronAfter(3 * minute));
    expect((await getMe(token)).status).toBe(200);
    await cronAfter(2 * minute);
    expect((await getMe(token)).status).toBe(401);
  });
});

describe('a deletion that Stripe takes only later changes nothing, and may be repeated', () => {
  it('while Stripe limits our rate', async () => {
    const status = 429;
    const { token, customer } = await newSubscriber('basic');
    await during({ stripe: { status } }, async () => {
      expect(await deleteAccount(token)).toMatchObject({
        status: 503,
        body: { code: 'unavailable' },
      });
    });
    expect(logLines('stripe_refused')[0]).toMatchObject({
      level: 'error',
      status,
    });
    expect(logLines('customer_unclosed')).toEqual([]);
    expect(await planOf(token)).toEqual(['basic', 'active']);

    expect((await deleteAccount(token)).status).toBe(200);
    expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
  });

  it('while the key in our settings is none', async () => {
    const { token } = await newSubscriber('basic');
    const settings = { STRIPE_SECRET_KEY: 'pk_test_public' };
    const refused = await call('DELETE', '/api/user/me', {
      token,
      settings,
    });
    expect(refused).toMatchObject({
      status: 503,
      body: { code: 'unavailable' },
    });
    expect(await planOf(token)).toEqual(['basic', 'active']);
  });
});

it('nobody stays for a key that may end subscriptions, an incomplete one too, and nothing else', async () => {
  const { phone, token, customer } = await newSubscriber('basic');
  await sandbox.card(phone, true);
  const { default_payment_method: card } = await subscriptionOf(customer);
  const unpaid = await stripe.subscriptions.create({
    customer,
    items: [{ price: await priceOf('premium') }],
    default_payment_method: card as string,
  });
  expect(unpaid.status).toBe('incomplete');
  intercept(async (request, _, send) => {
    const isDeletion = request.method === 'DELETE' && request.url.endsWith(customer);
    if (!isDeletion && !request.url.endsWith('/void')) return send(request);
    return Response.json({ error: { type: 'invalid_request_error' } }, { status: 403 });
  });
  expect((await deleteAccount(token)).status).toBe(200);
  const { data } = await stripe.subscriptions.list({
    customer,
    status: 'all',
  });
  expect(data.map(({ status }) => status)).toEqual(['canceled', 'canceled']);
});

describe('a customer that Stripe refuses to close', () => {
  const hourly = () => runCron('0 * * * *');
  const rowsOf = async (customer: string) =>
    (await run('select * from customers where stripe_id = ?', customer)).rows;
  const callsAbout = (customer: string) => {
    const calls: string[] = [];
    intercept(async (request, body, send) => {
      if (`${request.url}${body}`.includes(customer)) calls.push(request.url);
      return send(request);
    });
    return calls;
  };

  const refusals = [400, 401, 402, 403, 404].map((status) => ({ status }));
  for (const fault of [{ unknownCustomer: true } as const, ...refusals])
    it(
      `by ${JSON.stringify(fault)}, is parked without its number until it is closed`,
      fullUnless(!('status' in fault) || fault.status === 400),
      async () => {
        advanceClock(0);
        const { phone, token, customer } = await newSubscriber('basic');
        await during(
          {
            stripe: {
              ...fault,
              match: customer,
            },
          },
          async () => {
            expect((await deleteAccount(token)).body).toEqual({ success: true });
            expect((await getMe(token)).status).toBe(401);
            expect(logLines('customer_unclosed')).toMatchObject([{ level: 'error', customer }]);
            await hourly();
            expect(logLines('customer_unclosed')).toHaveLength(2);
          },
        );
        expect(JSON.stringify(await rowsOf(customer))).not.toContain(phone.slice(1));

        const calls = callsAbout(customer);
        await hourly();
        expect([calls, await isDeleted(customer)]).toEqual([[], false]);
        advanceClock(day);
        await hourly();
        expect([await rowsOf(customer), await isDeleted(customer)]).toEqual([[], true]);
      },
    );

  it('keeps no other one waiting', async () => {
    advanceClock(0);
    const people = [await newSubscriber('basic'), await newSubscriber('basic')];
    const [first, second] = people.map(({ customer }) => customer) as [string, string];
    await during({ stripe: { status: 400 } }, async () => {
      for (const { token } of people) expect((await deleteAccount(token)).status).toBe(200);
    });
    await during({ stripe: { status: 500, match: first } }, async () => {
      await hourly();
      await hourly();
    });
    expect([await isDeleted(first), await isDeleted(second)]).toEqual([false, true]);
  });
});

it('a deletion names the id that the bot brings after its names were read', async () => {
  const { phone, token } = await newPerson();
  const businessUserId = newBusinessUserId();
  const marks = ['user.deleted', 'chat_erasures', userOf(token)];
  const deletion = await startHeld(() => deleteAccount(token), ...marks);
  await botCall('/api/bot/contacts', { phone, businessUserId });
  expect((await deletion.finish()).status).toBe(200);
  const [last] = (await deliveredEvents(phone)).slice(-1);
  expect(last).toMatchObject({
    type: 'user.deleted',
    data: { phone, businessUserId },
  });
});
