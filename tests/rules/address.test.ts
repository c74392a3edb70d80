import { expect, it } from 'vitest';
import { callerAddress } from '../../worker/http/address.ts';

const addressOf = (value?: string) => callerAddress(new Headers(value ? { 'cf-connecting-ip': value } : {}));

it.each([
  ['203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['not an address', 'unknown'],
])('%s is counted as %s', (value, counted) => {
  expect(addressOf(value)).toBe(counted);
});

it('is shared by all callers without one', () => {
  expect(addressOf()).toBe('unknown');
});
