import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { call, parallel, tally } from './support/api.ts';
import { buy, complete, newSubscriber } from './support/buying.ts';
import { consent } from './support/chat.ts';
import { advanceClock, eventually, minute, second } from './support/clock.ts';
import { newCode, redeem } from './support/codes.ts';
import {
  externalSession,
  getMe,
  logOut,
  newPerson,
  planOf,
  sessionOf,
  trialSession,
  userOf,
} from './support/person.ts';
import { costOf, holdRequests } from './support/requests.ts';
import { run } from './support/sandbox.ts';
import { liveUserOf, OpenStream } from './support/streams.ts';
import { customerOf, stripe, subscriptionOf } from './support/stripe.ts';
import { fetchByCron } from './support/stripe-events.ts';
import { checkMs, EndedSessions } from '../../worker/live/ended-sessions.ts';

type Listed = {
  id: string;
  createdAt: string;
  lastSeenAt: string;
  current: boolean;
  device: string | null;
};

const sessionsOf = (token: string) => call('GET', '/api/user/sessions', { token });
const list = async (token: string): Promise<Listed[]> => (await sessionsOf(token)).body.sessions;
const end = (token: string, id: string) => call('DELETE', `/api/user/sessions/${id}`, { token });

it('lists sessions newest first, the present one marked, without expired ones and those of others', async () => {
  const { phone, token } = await newPerson();
  await newPerson();
  advanceClock(second);
  const later = await externalSession(phone);
  const sessions = await list(token);
  expect(sessions.map(({ current }) => current)).toEqual([false, true]);
  expect(sessions[0]!.createdAt > sessions[1]!.createdAt).toBe(true);
  expect((await list(later)).map(({ current }) => current)).toEqual([true, false]);
  for (const session of sessions)
    expect(Object.keys(session).toSorted()).toEqual([
      'createdAt',
      'current',
      'device',
      'id',
      'lastSeenAt',
    ]);
  await run(
    'update sessions set expires_at = ? where id = ?',
    Date.now() - second,
    sessions[1]!.id,
  );
  expect(await list(later)).toHaveLength(1);
  expect((await sessionsOf(token)).status).toBe(401);
});

it('names the device of a session by its browser, whatever signed in', async () => {
  const headers = {
    'user-agent':
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Safari/604.1',
  };
  const code = await newCode();
  const { body } = await call('POST', '/api/auth/verify-otp', {
    body: code,
    headers,
  });
  const nameless = await externalSession(code.phone);
  const devices = (await list(nameless)).map(({ device }) => device);
  expect(devices).toEqual([null, 'Safari on iPhone']);
  expect((await list(body.token))[1]!.device).toBe('Safari on iPhone');
});

it('ends one session and its streams, once for fifty parallel callers, and no ended, unknown or foreign one', async () => {
  const [{ phone, token }, stranger] = [await newPerson(), await newPerson()];
  const other = await externalSession(phone);
  const stream = await OpenStream.opened(other);
  const { id } = (await list(token)).find(({ current }) => !current)!;
  const answers = await parallel(50, () => end(token, id));
  expect(tally(answers)).toEqual({ 200: 1, 404: 49 });
  expect(answers.find(({ status }) => status === 200)!.body).toEqual({ success: true });
  await stream.until(({ ended }) => ended);
  for (const wrong of [sessionOf(stranger.token), id, 'unknown', '%27%20or%201=1--'])
    expect(await end(token, wrong)).toMatchObject({
      status: 404,
      body: { success: false, code: 'not_found' },
    });
  const responses = await Promise.all([other, token, stranger.token].map(getMe));
  expect(responses.map(({ status }) => status)).toEqual([401, 200, 200]);
  expect((await end(token, sessionOf(token))).status).toBe(200);
  expect((await getMe(token)).status).toBe(401);
});

it('writes lastSeenAt at most once an hour, after the response', async () => {
  advanceClock(0);
  const { token } = await newPerson();
  const [signedIn] = (await list(token)) as [Listed];
  const { arrived, release } = holdRequests('update \\"sessions\\"', userOf(token));
  advanceClock(59 * minute);
  expect(costOf(await getMe(token))).toBe(1);
  advanceClock(2 * minute);
  expect((await getMe(token)).status).toBe(200);
  await arrived();
  expect((await list(token))[0]).toEqual(signedIn);
  release();
  // A write after 59 minutes would have left another time.
  const seen = { ...signedIn, lastSeenAt: new Date().toISOString() };
  await eventually(async () => expect((await list(token))[0]).toEqual(seen));
  expect(costOf(await getMe(token))).toBe(1);
});

/** Somebody else may have opened the link; `http.test.ts` has all that is refused to them. */
describe('the session of a trial link', () => {
  const signInNeeded = { status: 403, body: { code: 'sign_in_needed' } };

  it('does what a trial needs: profile, count, platform, plans, logout', async () => {
    const { phone } = await newPerson();
    const token = await trialSession(phone);
    expect((await getMe(token)).body.profile).toMatchObject({ isTrial: true });
    (await OpenStream.opened(token)).close();
    expect((await call('POST', '/api/user/stream-ticket', { token })).status).toBe(200);
    expect(
      (
        await call('PUT', '/api/user/platform', {
          token,
          body: { platform: 'web' },
        })
      ).status,
    ).toBe(200);
    await complete((await buy(token, 'basic')).body.portalUrl);
    // The choice of the plan that waits for the end of the trial, but never the whole portal with card and invoices.
    expect((await buy(token)).status).toBe(200);
    const { id } = await subscriptionOf(await customerOf(phone));
    await stripe.subscriptions.update(id, { cancel_at_period_end: true });
    expect(await buy(token)).toMatchObject(signInNeeded);
    expect((await logOut(token)).status).toBe(200);
    expect((await getMe(token)).status).toBe(401);
  });

  it('opens no Checkout of somebody who paid once, which would show the address', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    await stripe.customers.update(customer, { email: 'payer@example.com' });
    const { id } = await subscriptionOf(customer);
    await stripe.subscriptions.cancel(id);
    await fetchByCron(customer);
    expect(await planOf(token)).toEqual(['free', 'active']);
    const limited = await trialSession(phone);
    for (const tier of ['basic', 'platinum'])
      expect(await buy(limited, tier)).toMatchObject(signInNeeded);
    expect((await buy(token, 'basic')).status).toBe(200);
  });

  it('changes no paid plan, while those of a code and an external token beside it may do everything', async () => {
    const { phone } = await newSubscriber('basic');
    const limited = await trialSession(phone);
    for (const tier of [undefined, 'platinum'])
      expect(await buy(limited, tier)).toMatchObject(signInNeeded);
    const { token } = (await redeem(await newCode(phone))).body;
    for (const full of [token, await externalSession(phone)])
      for (const each of [sessionsOf, consent, buy]) expect((await each(full)).status).toBe(200);
  });
});

it('an end that is announced before a check is checked until its own time', async () => {
  const { token } = await newPerson();
  await runInDurableObject(liveUserOf(token), async (_, { storage }) => {
    const sessions = new EndedSessions(storage, {}, () => []);
    const now = Date.now();
    await sessions.expect(now);
    const checkUntil = await sessions.expect(now + minute);
    expect(checkUntil).toBe(now + minute + checkMs);

    expect(await sessions.check()).toBe(checkUntil);
    advanceClock(minute + checkMs);
    expect(await sessions.check()).toBeNull();
  });
});
