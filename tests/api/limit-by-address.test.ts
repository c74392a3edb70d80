import { expect, it } from 'vitest';
import { limitByAddress } from '../../worker/http/limit-calls.ts';
import type { BaseContext } from '../../worker/http/request-context.ts';

/** A stub of the rate limiter that refuses some keys and records all. */
function platform(refused: string[]) {
  const asked: string[] = [];
  const limiter = (name: string) => ({
    limit: async ({ key }: { key: string }) => {
      asked.push(`${name} ${key}`);
      return { success: !refused.includes(key) };
    },
  });
  return { asked, env: { RATE_LIMITER: limiter('address'), NETWORK_RATE_LIMITER: limiter('network') } };
}

const limit = (env: object, address: string) => limitByAddress({ env, address } as unknown as BaseContext);

it('counts an IPv6 by its /64, and by its /48 in a limiter with a higher allowance', async () => {
  const { asked, env } = platform([]);
  await limit(env, '2001:db8:1:2::/64');
  expect(asked).toEqual(['address 2001:db8:1:2::/64', 'network 2001:db8:1::/48']);
});

it('counts an IPv4 by itself alone', async () => {
  const { asked, env } = platform([]);
  await limit(env, '203.0.113.9');
  expect(asked).toEqual(['address 203.0.113.9']);
});

it.each(['2001:db8:1:2::/64', '2001:db8:1::/48'])('refuses a call when %s is over its allowance', async (key) => {
  const { env } = platform([key]);
  await expect(limit(env, '2001:db8:1:2::/64')).rejects.toMatchObject({ errorName: 'rateLimited' });
  await expect(limit(env, '2001:db8:9:2::/64')).resolves.toBeUndefined();
});
