import { expect, it, vi } from 'vitest';
import { call, parallel, tally } from './support/api.ts';
import { advanceClock, minute } from './support/clock.ts';
import { LiveUser } from '../../worker/live/live-user.ts';
import { costOf, watchDatabase } from './support/requests.ts';
import { OpenStream } from './support/streams.ts';
import { externalSession, logOut, newPerson, userOf } from './support/person.ts';

const platform = (token: string) => call('GET', '/api/user/platform', { token });

/** The statuses of 250 calls of one minute, 50 at a time, with the sessions by turns. */
async function statusesOf(...tokens: string[]) {
  // The clock stands still: all calls are of one minute.
  advanceClock(0);
  const answers = [];
  for (let round = 0; round < 5; round += 1)
    answers.push(...(await parallel(50, (index) => platform(tokens[index % tokens.length]!))));
  return tally(answers);
}

it('lets the sessions of a user make 240 calls a minute together, and an ended one as many of its own', async () => {
  const [{ phone, token }, other] = [await newPerson(), await newPerson()];
  expect(await statusesOf(token, await externalSession(phone))).toEqual({ 200: 240, 429: 10 });
  const result = await platform(token);
  expect(result).toMatchObject({
    status: 429,
    body: { success: false, code: 'rate_limited', message: 'Too many requests. Please try again later.' },
  });
  const retryAfter = Number(result.headers.get('retry-after'));
  expect(retryAfter).toBeGreaterThan(0);
  expect(retryAfter).toBeLessThanOrEqual(60);
  expect(costOf(result)).toBe(0);
  expect((await platform(other.token)).status).toBe(200);
  advanceClock(minute);
  const ended = await externalSession(phone);
  await logOut(ended);
  expect(await statusesOf(ended)).toEqual({ 401: 240, 429: 10 });
  // Of these only the logout was a call of the user.
  expect(await statusesOf(token)).toEqual({ 200: 239, 429: 11 });
  advanceClock(minute);
  expect((await platform(ended)).status).toBe(401);
});

it('reaches neither the database nor the live object for a session that was found to have ended', async () => {
  const { token } = await newPerson();
  await logOut(token);
  const requests = watchDatabase(userOf(token));
  const opened = vi.spyOn(LiveUser.prototype, 'fetch');
  const expected = vi.spyOn(LiveUser.prototype, 'expectEnd');
  const first = await logOut(token);
  expect([first.status, costOf(first)]).toEqual([401, 1]);
  expect(requests.map(({ text }) => /delete|update|insert/i.test(text))).toEqual([false]);
  for (const [method, path] of [
    ['POST', '/api/auth/logout'],
    ['DELETE', '/api/user/sessions/any'],
    ['GET', `/api/user/usage-stream?token=${encodeURIComponent(token)}`],
    ['GET', '/api/user/me'],
  ] as const) {
    const result = await call(method, path, { token });
    expect([result.status, costOf(result)], path).toEqual([401, 0]);
  }
  expect([opened.mock.calls, expected.mock.calls]).toEqual([[], []]);
  const live = await newPerson();
  const stream = await OpenStream.opened(live.token);
  await logOut(live.token);
  await stream.until(({ ended }) => ended);
  expect([opened.mock.calls.length, expected.mock.calls.length]).toEqual([1, 1]);
});

it('asks the platform about public calls of an IPv6 by its /64 and by its /48, and of an IPv4 itself', async () => {
  const [address, network] = [0, 1].map(() => vi.fn(async () => ({ success: true })));
  const settings = { RATE_LIMITER: { limit: address }, NETWORK_RATE_LIMITER: { limit: network } } as never;
  const statusFrom = async (from: string) => (await call('GET', '/api/health', { address: from, settings })).status;
  expect([await statusFrom('2001:db8:1:2::3'), await statusFrom('203.0.113.9')]).toEqual([200, 200]);
  expect(address!.mock.calls).toEqual([[{ key: '2001:db8:1:2::/64' }], [{ key: '203.0.113.9' }]]);
  expect(network!.mock.calls).toEqual([[{ key: '2001:db8:1::/48' }]]);
  for (const limiter of [address, network]) {
    limiter!.mockResolvedValueOnce({ success: false });
    expect(await statusFrom('2001:db8:1:2::3')).toBe(429);
  }
});
