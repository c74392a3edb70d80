import { expect, it, onTestFinished } from 'vitest';
import { runMinuteCron } from '../../product/start-product.ts';
import { product } from '../shared-product.ts';
import { database } from './stored-rows.ts';
import { newNumber, newSubscriber, writeToAssistant } from './subscriber.ts';
import { support, supportJson } from './support-command.ts';

it('fetches a subscription of which no event came', async () => {
  const phone = await newSubscriber();
  await database.execute({ sql: "update users set tier = 'free' where phone = ?", args: [phone] });
  expect((await supportJson('find', phone))['advice'].join()).toContain('run `sync`');
  const syncing = supportJson('sync', phone);
  const timer = setInterval(() => void runMinuteCron(product.siteUrl), 500);
  onTestFinished(() => clearInterval(timer));
  expect(await syncing).toEqual({ fetched: true, tier: 'basic', subscriptionStatus: 'active' });
});

it('says that there is nothing to fetch for somebody who was never sent to Stripe', async () => {
  const phone = newNumber();
  await writeToAssistant(phone);
  expect(await support('sync', phone)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('never sent to Stripe'),
  });
});
