import { afterEach, expect, test, vi } from 'vitest';
import { indexDelayMs } from '../objects/search-index.ts';
import { newPerson } from './subscriber.ts';

/** Moves the clock past the delay of the search index. */
function passIndexDelay(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + indexDelayMs });
}

afterEach(() => {
  vi.useRealTimers();
});

test('search finds customers by their fields, after the delay of the index', async () => {
  const { stripe } = await newPerson();
  const { id } = await stripe.customers.create({ email: 'Ada@example.test', metadata: { userId: 'u-1' } });
  const other = await stripe.customers.create({ email: 'bob@example.test', metadata: { userId: 'u-2' } });
  const find = async (query: string) => (await stripe.customers.search({ query })).data.map((found) => found.id);
  expect(await find("metadata['userId']:'u-1'")).toEqual([]);
  expect((await stripe.customers.list({ email: 'Ada@example.test' })).data).toHaveLength(1);
  passIndexDelay();
  expect(await find("metadata['userId']:'u-1'")).toEqual([id]);
  expect(await find('email:"ada@example.test"')).toEqual([id]);
  expect(await find('email~"example" AND -metadata["userId"]:"u-1"')).toEqual([other.id]);
  expect(await find('metadata["userId"]:"u-1" OR metadata["userId"]:"u-2"')).toEqual([other.id, id]);
  await stripe.customers.update(id, { metadata: { userId: 'u-3' } });
  expect(await find("metadata['userId']:'u-1'")).toEqual([id]);
  expect(await find("metadata['userId']:'u-3'")).toEqual([]);
  await stripe.customers.del(id);
  passIndexDelay();
  expect(await find("metadata['userId']:'u-3'")).toEqual([]);
  await expect(stripe.customers.search({ query: 'colour:"red"' })).rejects.toMatchObject({ param: 'query' });
});
