import { expect, it } from 'vitest';
import { callerAddress, networkOf } from '../../worker/lib/caller.ts';

const addressOf = (value?: string) => callerAddress(new Headers(value ? { 'cf-connecting-ip': value } : {}));

it.each([
  ['203.0.113.9', '203.0.113.9', null],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:DB8:1:2::1', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
  ['2001:0db8:0001:0002::', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['::1', '0:0:0:0::/64', '0:0:0::/48'],
  ['::ffff:203.0.113.9', '203.0.113.9', null],
  ['not an address', 'unknown', null],
])('counts %s as %s in the network %s', (value, address, network) => {
  expect(addressOf(value)).toBe(address);
  expect(networkOf(address)).toBe(network);
});

it('counts all callers without an address together', () => {
  expect(addressOf()).toBe('unknown');
});
