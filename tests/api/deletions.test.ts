import { describe, expect, it } from 'vitest';
import { botCall, cronAfter, runCron } from './support/api.ts';
import { newSubscriber } from './support/buying.ts';
import { advanceClock, minute } from './support/clock.ts';
import { newBusinessUserId } from './support/contacts.ts';
import { deleteAccount, getMe, newPerson, userOf } from './support/person.ts';
import { cutFirst, intercept, logLines, startHeld } from './support/requests.ts';
import { deliveredEvents, during, run } from './support/sandbox.ts';
import { stripe } from './support/stripe.ts';

describe('a deletion that Cloudflare cuts off', () => {
  const leavingAt = async (token: string) =>
    (await run('select leaving_at from customers where user_id = ?', userOf(token))).rows[0]
      ?.leaving_at;

  it('is finished by the cron job', async () => {
    advanceClock(0);
    const { token, customer } = await newSubscriber('basic');
    const { arrived } = cutFirst('/v1/', customer);
    void deleteAccount(token).catch(() => undefined);
    await arrived();
    expect(await leavingAt(token)).toEqual(expect.any(Number));

    await cronAfter(minute);
    expect((await getMe(token)).status).toBe(200);
    await cronAfter(2 * minute);
    expect((await getMe(token)).status).toBe(401);
    expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
    expect(await leavingAt(token)).toBeUndefined();
  });

  it('is not one that was refused: whoever was told so stays', async () => {
    advanceClock(0);
    const { token } = await newSubscriber('basic');
    const fault = { stripe: { status: 503 } };
    expect((await during(fault, () => deleteAccount(token))).status).toBe(503);
    expect(await leavingAt(token)).toBeNull();
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

describe('nobody stays for the sake of our own key', () => {
  it.each([401, 403])('which Stripe refuses with %i', async (status) => {
    const { token, customer } = await newSubscriber('basic');
    const left = await during({ stripe: { status } }, () => deleteAccount(token));
    expect(left).toMatchObject({ status: 200, body: { success: true } });
    expect((await getMe(token)).status).toBe(401);
    expect(logLines('customer_unclosed')).toMatchObject([{ level: 'error', customer }]);
    expect(logLines('stripe_refused')[0]).toMatchObject({ level: 'error', status });

    expect((await stripe.customers.retrieve(customer)).deleted).toBeUndefined();
    await runCron('0 * * * *');
    expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
  });

  it('which may end a subscription and not delete a customer', async () => {
    const { token, customer } = await newSubscriber('basic');
    intercept(async (request, _, send) => {
      const isDeletion = request.method === 'DELETE' && request.url.endsWith(customer);
      if (!isDeletion) return send(request);
      return Response.json({ error: { type: 'invalid_request_error' } }, { status: 403 });
    });
    expect((await deleteAccount(token)).status).toBe(200);
    const { data } = await stripe.subscriptions.list({ customer, status: 'all' });
    expect(data.map(({ status }) => status)).toEqual(['canceled']);
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
  expect(last).toMatchObject({ type: 'user.deleted', data: { phone, businessUserId } });
});
