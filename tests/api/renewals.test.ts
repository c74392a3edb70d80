import { expect, it } from 'vitest';
import { botCall } from './support/api.ts';
import { parallel } from './support/parallel.ts';
import { sandbox } from './support/sandbox.ts';
import { eventsOf, newSubscriber, postEvent, profileOf, subscriptionOf } from './support/stripe.ts';

const week = 7 * 86_400;

it('opens the right week for everybody when a hundred renewals arrive at once', async () => {
  const people = await parallel(25, () => newSubscriber('basic'));
  for (const { phone } of people) await botCall('/api/bot/usage', { phone, count: 7 });
  const { now } = await sandbox.stripeClock();
  await sandbox.advanceStripe(4 * week);

  const events = (await Promise.all(people.map(({ customer }) => eventsOf(customer, now)))).flat();
  const renewals = events.filter(({ type }) => type === 'customer.subscription.updated');
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
