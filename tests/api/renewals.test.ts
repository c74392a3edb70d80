import { expect, it } from 'vitest';
import { botCall } from './support/api.ts';
import { newSubscriber, profileOf } from './support/buying.ts';
import { parallel } from './support/parallel.ts';
import { sandbox } from './support/sandbox.ts';
import { postEvent } from './support/stripe-events.ts';
import { stripe, subscriptionOf } from './support/stripe.ts';

const week = 7 * 86_400;

it('opens the right week for everybody when a hundred renewals arrive at once', async () => {
  const people = await parallel(25, () => newSubscriber('basic'));
  for (const { phone } of people) await botCall('/api/bot/usage', { phone, count: 7 });
  const { now } = await sandbox.stripeClock();
  await sandbox.advanceStripe(4 * week);

  const customers = new Set(people.map(({ customer }) => customer));
  const list = stripe.events.list({ type: 'customer.subscription.updated', created: { gte: now }, limit: 100 });
  const events = await list.autoPagingToArray({ limit: 5000 });
  const renewals = events.filter(({ data }) => customers.has((data.object as { customer: string }).customer));
  expect(renewals.length).toBeGreaterThanOrEqual(100);
  const answers = await Promise.all(renewals.toSorted(() => Math.random() - 0.5).map((event) => postEvent(event)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));

  for (const { phone, token, customer } of people) {
    const end = (await subscriptionOf(customer)).items.data[0]!.current_period_end * 1000;
    const { metadata, messagesUsedThisPeriod } = await profileOf(token);
    expect([metadata.renewalDate, messagesUsedThisPeriod]).toEqual([new Date(end).toISOString(), 0]);
    const { body } = await botCall('/api/bot/usage', { phone });
    expect(body).toMatchObject({ allowed: true, used: 1, resetsAt: metadata.renewalDate });
  }
}, 60_000);
