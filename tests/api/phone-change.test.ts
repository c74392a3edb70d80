import { describe, expect, it } from 'vitest';
import { botCall, call, parallel } from './support/api.ts';
import { newSubscriber } from './support/buying.ts';
import { newWriter, write } from './support/chat.ts';
import { advanceClock, day, minute, second, until } from './support/clock.ts';
import { database, everyValue } from './support/database.ts';
import { costOf } from './support/log.ts';
import {
  deleteAccount,
  externalSession,
  newContact,
  newPerson,
  newPhone,
  otherThan,
  requestOtp,
  userOf,
  verifyOtp,
  type Person,
} from './support/person.ts';
import { deliveredEvents, newestCode, outboxOf, sandbox } from './support/sandbox.ts';
import { holdRequests, traceOf } from './support/requests.ts';
import { OpenStream } from './support/streams.ts';
import { customerOf, stripe } from './support/stripe.ts';

const begin = (token: string, phone: string) => call('POST', '/api/user/phone', { token, body: { phone } });

const verify = (token: string, body: { phone: string; otp: string; challenge: string }) =>
  call('POST', '/api/user/phone/verify', { token, body });

const codesOn = async (phone: string) => (await sandbox.messages(phone)).flatMap(({ code }) => code ?? []);

/** Begins a change and reads its code, which is sent after the response. */
async function begun(token: string, phone = newPhone()) {
  const { body } = await begin(token, phone);
  const [otp] = await until(
    `a code on ${phone}`,
    () => codesOn(phone),
    ({ length }) => length > 0,
  );
  return { phone, otp: otp!, challenge: body.challenge as string };
}

async function changed({ token }: Person) {
  const change = await begun(token);
  return { ...change, response: await verify(token, change) };
}

const meOf = async (token: string) => (await call('GET', '/api/user/me', { token })).body.profile;

describe('a change of the number', () => {
  it('keeps the account with its plan, week and session, and ends all other sessions', async () => {
    const person = await newSubscriber('basic');
    const { phone: old, token } = person;
    const userId = userOf(token);
    await botCall('/api/bot/usage', { phone: old, count: 3 });
    const other = await externalSession(old);
    const fresh = { ...person, token: await externalSession(old) };
    const { phone, response } = await changed(fresh);
    expect([response.status, response.body.success]).toEqual([200, true]);
    expect(response.body.profile).toMatchObject({ phoneNumber: phone, messagesUsedThisPeriod: 3 });
    expect(response.body.profile.metadata.subscriptionTier).toBe('basic');
    expect(await meOf(fresh.token)).toEqual(response.body.profile);
    for (const ended of [token, other]) expect((await call('GET', '/api/user/me', { token: ended })).status).toBe(401);
    expect((await botCall('/api/bot/usage', { phone })).body).toMatchObject({ used: 4, tier: 'basic' });
    expect((await botCall('/api/bot/entitlements', { phone: old })).body.allowed).toBe(false);
    expect(userOf(await externalSession(phone))).toBe(userId);
    const stripeId = await customerOf(phone);
    await until(
      'the number at Stripe',
      () => stripe.customers.retrieve(stripeId),
      (customer) => 'phone' in customer && customer.phone === phone && customer.metadata['phone'] === phone,
    );
  });

  it('tells the bot both numbers', async () => {
    const person = await newPerson();
    const businessUserId = `US.${crypto.randomUUID().replaceAll('-', '')}`;
    await botCall('/api/bot/contacts', { phone: person.phone, businessUserId });
    const { phone } = await changed(person);
    const events = (await deliveredEvents(phone)).map(({ type, data }) => [type, data]);
    expect(events).toEqual([['user.phone_changed', { phone, previousPhone: person.phone, businessUserId }]]);
  });

  it('keeps the conversation, and the key with the new number', async () => {
    const person = await newWriter();
    await write(person.token, 'Before the change');
    const { response } = await changed(person);
    expect(response.status).toBe(200);
    await write(person.token, 'After the change');
    const { body } = await call('GET', '/api/user/chat', { token: person.token });
    expect(body.messages.map(({ text }: { text: string }) => text)).toEqual(['Before the change', 'After the change']);
    const sql = 'select chat_key as key, phone from users where id = ?';
    const { rows } = await database.execute({ sql, args: [userOf(person.token)] });
    await database.execute({
      sql: 'update users set phone = ? where id = ?',
      args: [person.phone, userOf(person.token)],
    });
    expect((await call('GET', '/api/user/chat', { token: person.token })).status).toBe(503);
    await database.execute({
      sql: 'update users set phone = ? where id = ?',
      args: [rows[0]!['phone']!, userOf(person.token)],
    });
  });

  it('sends what still waits for the bot under the new number, in order', async () => {
    const person = await newPerson();
    await sandbox.faults({ bot: { status: 503 } });
    await call('PUT', '/api/user/platform', { token: person.token, body: { platform: 'web' } });
    const { phone } = await changed(person);
    expect(await outboxOf(person.phone)).toEqual([]);
    const types = (await outboxOf(phone)).map(({ body }) => {
      const { type, data } = JSON.parse(body as string);
      return [type, data.phone];
    });
    expect(types).toEqual([
      ['platform.changed', phone],
      ['user.phone_changed', phone],
    ]);
  });

  it('ends the codes of the old number, and other changes that were begun', async () => {
    const person = await newPerson();
    await botCall('/api/bot/contacts', { phone: person.phone });
    const first = await begun(person.token);
    advanceClock(31 * second);
    await requestOtp(person.phone);
    const otp = await newestCode(person.phone);
    const { response } = await changed(person);
    expect(response.status).toBe(200);
    expect((await verifyOtp(person.phone, otp)).status).toBe(401);
    expect((await verify(person.token, first)).status).toBe(401);
  });

  it('goes on in the free week for whoever writes from the old number, and takes a used trial along', async () => {
    const person = await newPerson();
    await botCall('/api/bot/usage', { phone: person.phone, count: 5 });
    const { body } = await botCall('/api/bot/trials', { phone: person.phone });
    const trialToken = new URL(body.url).searchParams.get('token');
    await call('POST', '/auth/verify-trial-token', { body: { trialToken } });
    const { phone } = await changed(person);
    expect((await botCall('/api/bot/trials', { phone })).body.code).toBe('trial_spent');
    await newContact(person.phone);
    expect((await botCall('/api/bot/entitlements', { phone: person.phone })).body).toMatchObject({ used: 5 });
  });

  it('accepts another id from the new number, and keeps the old one until then', async () => {
    const person = await newPerson();
    const [old, fresh] = [0, 1].map(() => `US.${crypto.randomUUID().replaceAll('-', '')}`);
    await botCall('/api/bot/contacts', { phone: person.phone, businessUserId: old });
    const { phone } = await changed(person);
    expect((await botCall('/api/bot/usage', { businessUserId: old })).body.allowed).toBe(true);
    expect((await botCall('/api/bot/contacts', { phone, businessUserId: fresh })).status).toBe(200);
    expect((await botCall('/api/bot/usage', { businessUserId: fresh })).body).toMatchObject({ allowed: true, used: 2 });
    expect((await botCall('/api/bot/usage', { businessUserId: old })).body.allowed).toBe(false);
  });

  it('costs one request to begin and two to verify', async () => {
    const { token } = await newPerson();
    const phone = newPhone();
    const response = await begin(token, phone);
    expect(costOf(response)).toBe(1);
    const [otp] = await until(
      'a code',
      () => codesOn(phone),
      ({ length }) => length > 0,
    );
    expect(costOf(await verify(token, { phone, otp: otp!, challenge: response.body.challenge }))).toBe(2);
  });
});

describe('a change of the number is refused', () => {
  it('with 403 to a session of more than ten minutes, at either step', async () => {
    const { token } = await newPerson();
    advanceClock(9 * minute);
    const change = await begun(token);
    advanceClock(11 * minute);
    for (const { status, body } of [await begin(token, newPhone()), await verify(token, change)])
      expect([status, body.code]).toEqual([403, 'sign_in_needed']);
  });

  it('with 403 to the session of a trial link', async () => {
    const { phone } = await newContact();
    const { body } = await botCall('/api/bot/trials', { phone });
    const trialToken = new URL(body.url).searchParams.get('token');
    const { body: opened } = await call('POST', '/auth/verify-trial-token', { body: { trialToken } });
    expect((await begin(opened.token, newPhone())).body.code).toBe('sign_in_needed');
  });

  it('without a sign that the number is taken', async () => {
    const [taken, mine] = await Promise.all([newContact(), newPerson()]);
    const [free, response] = [await begin((await newPerson()).token, newPhone()), await begin(mine.token, taken.phone)];
    expect(Object.keys(response.body)).toEqual(Object.keys(free.body));
    expect([response.status, response.body.success]).toEqual([200, true]);
    expect(response.body.challenge).toHaveLength(free.body.challenge.length);
    expect((await begin(mine.token, taken.phone)).status).toBe(429);
    // A code that is sent later shows that one for this number would have come before.
    await begun((await newPerson()).token);
    expect(await codesOn(taken.phone)).toEqual([]);
    expect((await requestOtp(taken.phone)).body.success).toBe(true);
    const { challenge } = response.body;
    const { status, body } = await verify(mine.token, { phone: taken.phone, otp: '123456', challenge });
    expect([status, body.code]).toEqual([401, 'invalid_code']);
  });

  it('by the same statements, with as many written rows, whether the number is free or taken', async () => {
    const [{ phone: taken }, one, two] = await Promise.all([newContact(), newPerson(), newPerson()]);
    const traces = [];
    for (const [person, phone] of [
      [one, newPhone()],
      [two, taken],
    ] as const) {
      traces.push(await traceOf(userOf(person.token), () => begin(person.token, phone)));
      traces.push(await traceOf(userOf(person.token), () => begin(person.token, phone)));
      const { rows } = await database.execute({
        sql: 'select phone from phone_changes where phone = ?',
        args: [phone],
      });
      expect(rows).toHaveLength(1);
    }
    const [begunFree, limitedFree, begunTaken, limitedTaken] = traces;
    expect(begunTaken).toEqual(begunFree);
    expect(limitedTaken).toEqual(limitedFree);
    expect([begunTaken!.status, begunTaken!.requests, limitedTaken!.status]).toEqual([200, 1, 429]);
    // The change, four events of limits, the day's codes; between them the session check, and the transaction around.
    expect(begunTaken!.written).toEqual([0, 0, 0, 1, 4, 1, 0, 0]);
  });

  it('to two accounts that want one number, whether it is free or taken', async () => {
    const [{ phone: taken }, one, two] = await Promise.all([newContact(), newPerson(), newPerson()]);
    for (const phone of [newPhone(), taken]) {
      expect([(await begin(one.token, phone)).status, (await begin(two.token, phone)).status]).toEqual([200, 429]);
      advanceClock(31 * second);
    }
  });

  it('after five wrong codes, after five minutes, with the challenge of another number, and a second time', async () => {
    const [one, two, three] = await parallel(3, () => newPerson());
    const wrong = await begun(one!.token);
    for (let count = 0; count < 5; count += 1)
      expect((await verify(one!.token, { ...wrong, otp: otherThan(wrong.otp) })).body.code).toBe('invalid_code');
    expect((await verify(one!.token, wrong)).status).toBe(401);
    const others = await begun(two!.token);
    expect((await verify(three!.token, others)).status).toBe(401);
    expect((await verify(two!.token, { ...others, phone: newPhone() })).status).toBe(401);
    expect((await verify(two!.token, others)).status).toBe(200);
    expect((await verify(two!.token, others)).status).toBe(401);
    const late = await begun(three!.token);
    advanceClock(5 * minute + second);
    expect((await verify(three!.token, late)).status).toBe(401);
  });

  it('with 409 for a number that somebody has got meanwhile', async () => {
    const { token, phone } = await newPerson();
    const change = await begun(token);
    await newContact(change.phone);
    const { status, body } = await verify(token, change);
    expect([status, body.code]).toEqual([409, 'conflict']);
    expect((await meOf(token)).phoneNumber).toBe(phone);
  });

  it('for 30 seconds after a code that WhatsApp refused, as for a taken number', async () => {
    const [{ token }, { phone: taken }] = await Promise.all([newPerson(), newContact()]);
    const phone = newPhone();
    await sandbox.faults({ whatsapp: { status: 503, match: phone.slice(1) } });
    for (const each of [phone, taken]) {
      expect((await begin(token, each)).status).toBe(200);
      expect((await begin(token, each)).status).toBe(429);
      advanceClock(31 * second);
    }
    await sandbox.faults({ whatsapp: null });
    const change = await begun(token, phone);
    expect((await verify(token, change)).status).toBe(200);
  });

  it('more often than every 30 seconds, and ten times a day', async () => {
    const { token, phone } = await newPerson();
    expect((await begin(token, newPhone())).status).toBe(200);
    expect((await begin(token, newPhone())).status).toBe(429);
    expect((await meOf(token)).phoneNumber).toBe(phone);
  });
});

describe('races of a change of the number', () => {
  it('moves once for twenty verifications at once', async () => {
    const { token } = await newPerson();
    const change = await begun(token);
    const results = await parallel(20, () => verify(token, change));
    expect(results.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(results.filter(({ status }) => status === 401)).toHaveLength(19);
    expect((await deliveredEvents(change.phone)).map(({ type }) => type)).toEqual(['user.phone_changed']);
  });

  it('is counted once for its day, with nothing about the person', async () => {
    // A day on which no other test counts.
    advanceClock(1200 * day);
    const { token } = await newPerson();
    const change = await begun(token);
    await parallel(5, () => verify(token, change));
    const today = 'select kind, detail, n from daily_totals where day = ?';
    const { rows } = await database.execute({ sql: today, args: [Math.floor(Date.now() / day)] });
    expect(rows.map((row) => ({ ...row }))).toEqual([{ kind: 'number_change', detail: '', n: 1 }]);
  });

  it('gives a number that five accounts want to one of them', async () => {
    const phone = newPhone();
    const people = await parallel(5, () => newPerson());
    const wanted = [];
    for (const { token } of people) {
      const before = (await codesOn(phone)).length;
      const { body } = await begin(token, phone);
      const all = await until(
        'one more code',
        () => codesOn(phone),
        ({ length }) => length > before,
      );
      wanted.push({ token, phone, otp: all.at(-1)!, challenge: body.challenge as string });
      advanceClock(31 * second);
    }
    const results = await Promise.all(wanted.map(({ token, ...change }) => verify(token, change)));
    expect(results.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409', '409', '409', '409']);
  });

  it('leaves nothing of either number beside a deletion, which wins', async () => {
    const person = await newSubscriber('basic');
    const token = await externalSession(person.phone);
    const change = await begun(token);
    const deletion = holdRequests('DELETE', person.customer);
    const deleted = deleteAccount(token);
    await deletion.arrived();
    expect((await verify(token, change)).status).toBe(200);
    deletion.release();
    expect((await deleted).status).toBe(200);
    expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
    expect((await deliveredEvents(change.phone)).at(-1)!.type).toBe('user.deleted');
    expect(await placesOf(userOf(token), person.phone, change.phone)).toEqual([]);
    expect(await stripe.customers.retrieve(person.customer)).toMatchObject({ deleted: true });
  });

  it.each(['at Stripe', 'at the database'] as const)(
    'leaves the free week to the new number where a deletion is held %s',
    async (where) => {
      const person = await newPerson();
      const { body } = await botCall('/api/bot/usage', { phone: person.phone, count: 3 });
      if (where === 'at Stripe')
        await call('POST', '/api/billing/create-subscription-update-session', {
          token: person.token,
          body: { tier: 'basic' },
        });
      const change = await begun(person.token);
      const deletion =
        where === 'at Stripe'
          ? holdRequests('DELETE', '/v1/customers/')
          : holdRequests('user.deleted', 'chat_erasures');
      const deleted = deleteAccount(person.token);
      await deletion.arrived();
      expect((await verify(person.token, change)).status).toBe(200);
      deletion.release();
      expect((await deleted).status).toBe(200);
      expect((await deliveredEvents(change.phone)).map(({ type }) => type).at(-1)).toBe('user.deleted');
      await newContact(change.phone);
      expect((await botCall('/api/bot/entitlements', { phone: change.phone })).body).toMatchObject({
        used: 3,
        resetsAt: body.resetsAt,
      });
    },
  );

  it('leaves a whole account or none beside a deletion at the same time', async () => {
    const { token } = await newPerson();
    const change = await begun(token);
    const [moved, deleted] = await Promise.all([verify(token, change), deleteAccount(token)]);
    expect(deleted.status).toBe(200);
    expect([200, 401]).toContain(moved.status);
    const { rows } = await database.execute({ sql: 'select 1 from users where id = ?', args: [userOf(token)] });
    expect(rows).toEqual([]);
    expect((await deliveredEvents(change.phone)).at(-1)?.type ?? 'user.deleted').toBe('user.deleted');
  });

  it.each(['the sync', 'the change'] as const)(
    'keeps plan and number where %s is first, and the stream',
    async (first) => {
      const person = await newSubscriber('premium');
      const [token, other] = await parallel(2, () => externalSession(person.phone));
      const [stream, ending] = await Promise.all([OpenStream.open(token!), OpenStream.open(other!)]);
      const change = await begun(token!);
      // The sync has read the account, or the change its permission, when the other one does its whole work.
      const held =
        first === 'the sync'
          ? holdRequests(change.phone, 'user.phone_changed')
          : holdRequests('/v1/subscriptions', person.customer);
      const cancel = () => call('POST', '/api/billing/cancel', { token: token! });
      const slow = first === 'the sync' ? verify(token!, change) : cancel();
      await held.arrived();
      expect((await (first === 'the sync' ? cancel() : verify(token!, change))).status).toBe(200);
      held.release();
      expect((await slow).status).toBe(200);

      expect(await meOf(token!)).toMatchObject({
        phoneNumber: change.phone,
        metadata: { subscriptionTier: 'premium', subscriptionStatus: 'cancellation_scheduled' },
      });
      await ending.until(({ ended }) => ended);
      await botCall('/api/bot/usage', { phone: change.phone });
      await stream.until(({ counts }) => counts.at(-1) === 1);
      expect(stream.ended).toBe(false);
      await until(
        'the number at Stripe',
        () => stripe.customers.retrieve(person.customer),
        (customer) =>
          'phone' in customer && customer.phone === change.phone && customer.metadata['phone'] === change.phone,
      );
      await deliveredEvents(change.phone);
      expect(await placesOf(person.phone)).toEqual([]);
    },
  );
});

/** The columns of the database in which one of these texts stands. */
async function placesOf(...texts: string[]): Promise<string[]> {
  const values = await everyValue();
  return values
    .filter(({ text }) => texts.some((each) => text.includes(each.replace('+', ''))))
    .map(({ column }) => column);
}
