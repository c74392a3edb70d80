import { describe, expect, it } from 'vitest';
import { type Answer, botCall, call, parallel, tally } from './support/api.ts';
import { newSubscriber } from './support/buying.ts';
import { consent, write } from './support/chat.ts';
import { advanceClock, second } from './support/clock.ts';
import {
  beginChange,
  newCode,
  otherThan,
  redeem,
  requestChange,
  verifyChange,
} from './support/codes.ts';
import { eventTypes, newBusinessUserId, newPhone, post } from './support/contacts.ts';
import { getMe, logOut, newPerson, userOf, choosePlatform } from './support/person.ts';
import { watchDatabase } from './support/requests.ts';
import { deliveredEvents, run } from './support/sandbox.ts';
import { newEventsOf, postEvent } from './support/stripe-events.ts';

const count = async (sql: string, ...values: string[]) =>
  (await run(`select count(*) as n from ${sql}`, ...values)).rows[0]!.n;

const withdrawConsent = (token: string) => call('DELETE', '/api/user/chat/consent', { token });
const state = (token: string) => call('POST', '/api/billing/withdrawal', { token });

describe('fifty parallel callers', () => {
  it('begin one change of the number, and move the account once', async () => {
    const { token } = await newPerson();
    const phone = newPhone();
    const begun = await parallel(50, () => requestChange(token, phone));
    expect(tally(begun)).toEqual({ 200: 1, 429: 49 });
    expect(await count('phone_changes where phone = ?', phone)).toBe(1);

    advanceClock(31 * second);
    const change = await beginChange(token);
    const moved = await parallel(50, () => verifyChange(token, change));
    expect(tally(moved)).toEqual({ 200: 1, 401: 49 });
    expect(await count('phone_changes where user_id = ?', userOf(token))).toBe(0);
  });

  it('give one consent, withdraw it once and choose a platform once, as the bot is told', async () => {
    const { phone, token } = await newPerson();
    const given = await parallel(50, () => consent(token));
    expect(new Set(given.map(({ text }) => text)).size).toBe(1);
    expect(tally(given)).toEqual({ 200: 50 });
    await deliveredEvents(phone);
    expect(tally(await parallel(50, () => withdrawConsent(token)))).toEqual({ 200: 50 });
    await deliveredEvents(phone);
    expect(tally(await parallel(50, () => choosePlatform(token, 'web')))).toEqual({ 200: 50 });
    await deliveredEvents(phone);
    const told = (await eventTypes(phone)).toSorted();
    expect(told).toEqual(['chat.cleared', 'chat.consent', 'chat.consent', 'platform.changed']);
  });

  it('bring one event of Stripe, which is a reason to fetch once', async () => {
    const { customer } = await newSubscriber('basic');
    const [event] = await newEventsOf(customer);
    const dirty = async () =>
      (await run('select dirty from customers where stripe_id = ?', customer)).rows[0]!.dirty;
    const before = Number(await dirty());
    expect(tally(await parallel(50, () => postEvent(event)))).toEqual({ 200: 50 });
    expect(await dirty()).toBe(before + 1);
    expect(await count('stripe_events where id = ?', event!.id)).toBe(1);
  });

  it('report one contact of a new number and id, who are one person', async () => {
    const [phone, businessUserId] = [newPhone(), newBusinessUserId()];
    const report = () =>
      botCall('/api/bot/contacts', {
        phone,
        businessUserId,
      });
    expect(tally(await parallel(50, report))).toEqual({ 200: 50 });
    expect(await count('users where phone = ?', phone)).toBe(1);
  });

  it('end their own session, which is gone', async () => {
    const { token } = await newPerson();
    const {
      200: ended,
      401: refused = 0,
      ...others
    } = tally(await parallel(50, () => logOut(token)));
    expect([ended! > 0, ended! + refused, others]).toEqual([true, 50, {}]);
    expect((await getMe(token)).status).toBe(401);
    expect(await count('sessions where user_id = ?', userOf(token))).toBe(0);
  });

  it('make one statement of withdrawal', { tags: ['full'] }, async () => {
    const { token } = await newSubscriber('basic');
    const stated = (await parallel(50, () => state(token))).filter(({ status }) => status === 200);
    expect(new Set(stated.map(({ body }) => body.statement.id)).size).toBe(1);
    expect(await count('withdrawals where user_id = ?', userOf(token))).toBe(1);
  });
});

/** The rows that a call has written in the request with a text, those of its decision among them. */
async function writtenBy(marks: [string, ...string[]], act: () => Promise<Answer>, text: string) {
  const requests = watchDatabase(...marks);
  const { status } = await act();
  const [own] = requests.filter((request) => request.text.includes(text));
  return [status, own?.written.reduce((sum, rows) => sum + rows, 0) ?? 0];
}

it('writes at most so many rows for a call, its decision among them', async () => {
  const { phone, token } = await newPerson();
  const written: Record<string, unknown[]> = {};
  const add = async (name: string, act: () => Promise<Answer>, text = '') => {
    written[name] = await writtenBy([phone, userOf(token)], act, text);
  };

  advanceClock(31 * second);
  const code = await newCode(phone);
  await add('a wrong code', () =>
    redeem({
      ...code,
      otp: otherThan(code.otp),
    }),
  );
  await add('the right one', () => redeem(code));
  await add('a counted message', () => post(phone));
  await add('consent', () => consent(token), 'outbox');
  await add('a chat message', () => write(token, 'Hello'), 'outbox');
  await add('a platform', () => choosePlatform(token, 'web'), 'outbox');
  await add('a change of the number', () => requestChange(token, newPhone()));
  const atMost: Record<string, number> = {
    'a wrong code': 6,
    'the right one': 8,
    'a counted message': 3,
    consent: 8,
    'a chat message': 1,
    'a platform': 6,
    'a change of the number': 12,
  };
  const tooMany = Object.entries(written).filter(
    ([name, [, rows]]) => Number(rows) > atMost[name]!,
  );
  expect(tooMany).toEqual([]);
  expect(Object.values(written).every(([, rows]) => Number(rows) > 0)).toBe(true);
});
