import { expect, it } from 'vitest';
import { until } from '../../api/support/clock.ts';
import { runMinuteCron } from '../../product/cron-clock.ts';
import { call, product } from '../shared-product.ts';
import { eventTypesOf, newSubscriber, setFault, signIn } from './subscriber.ts';
import { support, supportJson } from './support-command.ts';

/** A user whose platform event the bot refused, and the number of that event. */
async function parkedEvent(): Promise<{ phone: string; seq: number }> {
  const phone = await newSubscriber();
  const token = await signIn(phone);
  await setFault('bot', { status: 422 });
  await call(`${product.siteUrl}/api/user/platform`, 'PUT', { platform: 'web' }, token);
  const events = async () => (await supportJson('find', phone))['eventsForTheBot'] as Record<string, unknown>[];
  const isParked = ({ type, parkedAt }: Record<string, unknown>) => type === 'platform.changed' && Boolean(parkedAt);
  const found = await until('a parked event', events, (all) => all.some(isParked));
  await setFault('bot', null);
  return { phone, seq: Number(found.find(isParked)!['seq']) };
}

it('lists a parked event, and sends it again', async () => {
  const { phone, seq } = await parkedEvent();
  const listed = (await supportJson('outbox')) as Record<string, any>[];
  expect(listed).toContainEqual(expect.objectContaining({ seq, type: 'platform.changed' }));
  expect(JSON.stringify(listed)).not.toContain(phone);
  expect(await supportJson('outbox', 'retry', String(seq), '--yes')).toEqual({ retry: 1 });
  await runMinuteCron(product.siteUrl);
  await until(
    'the event at the bot',
    () => eventTypesOf(phone),
    (types) => types.includes('platform.changed'),
  );
});

it('removes a parked event, and knows no other number', async () => {
  const { phone, seq } = await parkedEvent();
  expect(await supportJson('outbox', 'drop', String(seq), '--yes')).toEqual({ drop: 1 });
  await runMinuteCron(product.siteUrl);
  expect(await eventTypesOf(phone)).not.toContain('platform.changed');
  expect(await support('outbox', 'drop', String(seq), '--yes')).toMatchObject({ code: 1 });
  expect(await support('outbox', 'burn', 'all', '--yes')).toMatchObject({ code: 2 });
});
