import { expect, it } from 'vitest';
import { readMessage, reconnectDelay } from '../../web/rules/stream-events.ts';

it('waits 3 s, doubles, stays below 30 s and gives up after five tries', () => {
  expect([1, 2, 3, 4, 5, 6].map(reconnectDelay)).toEqual([3000, 6000, 12_000, 24_000, 30_000, null]);
});

it.each([
  ['{"type":"usageUpdate","count":7}', { type: 'usageUpdate', count: 7 }],
  ['{"type":"subscription_update"}', { type: 'subscription_update' }],
  ['{"type":"subscriptionChange","count":1}', { type: 'subscriptionChange' }],
  ['{"type":"usageUpdate","count":"7"}', null],
  ['{"type":"usageUpdate"}', null],
  ['{"type":"other"}', null],
  ['null', null],
  ['not json', null],
])('reads %s', (data, message) => {
  expect(readMessage(data)).toEqual(message);
});
