import { expect, it, vi } from 'vitest';
import { call } from './support/api.ts';
import { advanceClock, minute } from './support/clock.ts';
import { LiveUser } from '../../worker/live/live-user.ts';
import { watchDatabase } from './support/requests.ts';
import { costOf } from './support/log.ts';
import { OpenStream } from './support/streams.ts';
import { externalSession, newPerson, userOf } from './support/person.ts';

const platform = (token: string) => call('GET', '/api/user/platform', { token });
const statuses = async (token: string, times: number) =>
  (await Promise.all(Array.from({ length: times }, () => platform(token)))).map(({ status }) => status);
const count = (list: number[], status: number) => list.filter((each) => each === status).length;

it('lets a user make 240 calls a minute, 50 callers at a time, and refuses the next with 429', async () => {
  const [{ token }, other] = [await newPerson(), await newPerson()];
  // The clock stands still: all calls are of one minute.
  advanceClock(0);
  const all: number[] = [];
  for (let round = 0; round < 5; round += 1) all.push(...(await statuses(token, 50)));
  expect([count(all, 200), count(all, 429)]).toEqual([240, 10]);
  const result = await platform(token);
  expect({ status: result.status, body: result.body }).toEqual({
    status: 429,
    body: { success: false, code: 'rate_limited', message: 'Too many requests. Please try again later.' },
  });
  const retryAfter = Number(result.headers.get('retry-after'));
  expect(retryAfter).toBeGreaterThan(0);
  expect(retryAfter).toBeLessThanOrEqual(60);
  expect(costOf(result)).toBe(0);
  expect((await platform(other.token)).status).toBe(200);
  advanceClock(minute);
  expect((await platform(token)).status).toBe(200);
});

it('counts the sessions of a user together', async () => {
  const { phone, token } = await newPerson();
  const second = await externalSession(phone);
  await statuses(token, 200);
  expect(count(await statuses(second, 50), 200)).toBe(40);
});

it('does not count calls of an ended session for the user', async () => {
  const { phone, token } = await newPerson();
  const ended = await externalSession(phone);
  await call('POST', '/api/auth/logout', { token: ended });
  for (let round = 0; round < 6; round += 1) await statuses(ended, 50);
  expect((await platform(token)).status).toBe(200);
});

it('refuses 240 calls a minute of an ended session with 401, and the next with 429', async () => {
  const { phone, token } = await newPerson();
  const others = await externalSession(phone);
  await call('DELETE', '/api/user/me', { token });
  advanceClock(0);
  const all: number[] = [];
  for (let round = 0; round < 5; round += 1) all.push(...(await statuses(token, 50)));
  expect([count(all, 401), count(all, 429)]).toEqual([240, 10]);
  expect((await platform(others)).status).toBe(401);
  advanceClock(minute);
  expect((await platform(token)).status).toBe(401);
});

it('reaches neither the database nor the live object for a session that was found to have ended', async () => {
  const { token } = await newPerson();
  await call('POST', '/api/auth/logout', { token });
  const requests = watchDatabase(userOf(token));
  const opened = vi.spyOn(LiveUser.prototype, 'fetch');
  const expected = vi.spyOn(LiveUser.prototype, 'expectEnd');
  const first = await call('POST', '/api/auth/logout', { token });
  expect([first.status, costOf(first), requests.map(({ text }) => /delete|update|insert/i.test(text))]).toEqual([
    401,
    1,
    [false],
  ]);
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
  await call('POST', '/api/auth/logout', { token: live.token });
  await stream.until(({ ended }) => ended);
  expect([opened.mock.calls.length, expected.mock.calls.length]).toEqual([1, 1]);
});

it('costs no database request', async () => {
  const { token } = await newPerson();
  expect(costOf(await platform(token))).toBe(1);
});

/** The number of calls before the first 429, `most` without one; the platform's window restarts each minute. */
async function passed(most: number, one: (index: number) => Promise<{ status: number }>): Promise<number> {
  for (let done = 0; done < most; done += 50) {
    const responses = await Promise.all(Array.from({ length: 50 }, (_, index) => one(done + index)));
    const refused = responses.findIndex(({ status }) => status === 429);
    if (refused >= 0) return done + refused;
  }
  return most;
}

it.each([
  ['/api/health', '198.51.100.7'],
  ['/api/openapi.json', '198.51.100.8'],
])('limits %s by address, so that nobody floods the database', async (path, address) => {
  const before429 = await passed(1300, () => call('GET', path, { address }));
  expect(before429).toBeGreaterThanOrEqual(550);
  expect(before429).toBeLessThan(1300);
  expect((await call('GET', path)).status).toBe(200);
});
