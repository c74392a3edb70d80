import { describe, expect, it } from 'vitest';
import { type Answer, botCall, call, cronAfter } from './support/api.ts';
import { newSubscriber } from './support/buying.ts';
import { consent, textsOf, write } from './support/chat.ts';
import { advanceClock, minute, second } from './support/clock.ts';
import {
  type Code,
  beginChange,
  newCode,
  otherThan,
  redeem,
  requestChange,
  requestOtp,
  verifyChange,
} from './support/codes.ts';
import { newBusinessUserId, newContact, newPhone, post, usageOf } from './support/contacts.ts';
import { externalSession, getMe, newPerson, trialSession, userOf } from './support/person.ts';
import { costOf, watchDatabase } from './support/requests.ts';
import { deliveredEvents, during, outboxOf, run, sandbox } from './support/sandbox.ts';
import { change, untilAtStripe } from './support/phone-changes.ts';

describe('a change of the number', () => {
  it('keeps the account with its plan, week, session and conversation, and ends all other sessions', async () => {
    const { phone: old, token, customer } = await newSubscriber('basic');
    await post(old, 3);
    await consent(token);
    await write(token, 'Before the change');
    const [other, fresh] = [await externalSession(old), await externalSession(old)];
    const { phone, response } = await change({ token: fresh });
    const profile = {
      phoneNumber: phone,
      messagesUsedThisPeriod: 3,
      metadata: { subscriptionTier: 'basic' },
    };
    expect(response.body).toMatchObject({ success: true, profile });
    expect((await getMe(fresh)).body.profile).toEqual(response.body.profile);
    for (const ended of [token, other]) expect((await getMe(ended)).status).toBe(401);
    expect((await post(phone)).body).toMatchObject({
      used: 4,
      tier: 'basic',
    });
    expect((await usageOf(old)).allowed).toBe(false);
    expect(userOf(await externalSession(phone))).toBe(userOf(token));
    await untilAtStripe(customer, phone);
    await write(fresh, 'After the change');
    expect(await textsOf({ token: fresh })).toEqual(['Before the change', 'After the change']);
    // The key of the conversation is bound to the new number.
    await run('update users set phone = ? where id = ?', old, userOf(fresh));
    expect((await call('GET', '/api/user/chat', { token: fresh })).status).toBe(503);
  });

  it('tells the bot both numbers, in order, and accepts another id from the new one, and the old id until then', async () => {
    const person = await newPerson();
    const [businessUserId, fresh] = [newBusinessUserId(), newBusinessUserId()];
    const usage = async (id: string) =>
      (await botCall('/api/bot/usage', { businessUserId: id })).body;
    await botCall('/api/bot/contacts', {
      phone: person.phone,
      businessUserId,
    });
    await sandbox.faults({ bot: { status: 503 } });
    await call('PUT', '/api/user/platform', {
      token: person.token,
      body: { platform: 'web' },
    });
    const { phone, response } = await change(person);
    expect(costOf(response)).toBe(2);
    expect(await outboxOf(person.phone)).toEqual([]);
    expect(await outboxOf(phone)).toHaveLength(2);
    await sandbox.faults({ bot: null });
    await cronAfter(minute);
    expect(await deliveredEvents(phone)).toMatchObject([
      { type: 'platform.changed', data: { phone } },
      {
        type: 'user.phone_changed',
        data: {
          phone,
          previousPhone: person.phone,
          businessUserId,
        },
      },
    ]);
    expect((await usage(businessUserId)).allowed).toBe(true);
    expect(
      (
        await botCall('/api/bot/contacts', {
          phone,
          businessUserId: fresh,
        })
      ).status,
    ).toBe(200);
    expect(await usage(fresh)).toMatchObject({ allowed: true, used: 2 });
    expect((await usage(businessUserId)).allowed).toBe(false);
  });

  it('ends the codes of the old number and other changes, leaves it the free week, and takes a used trial along', async () => {
    const person = await newPerson();
    await trialSession(person.phone);
    await post(person.phone, 5);
    const first = await beginChange(person.token);
    advanceClock(31 * second);
    const code = await newCode(person.phone);
    const { phone } = await change(person);
    expect((await verifyChange(person.token, first)).status).toBe(401);
    expect((await botCall('/api/bot/trials', { phone })).body.code).toBe('trial_spent');
    await newContact(person.phone);
    for (const ended of [code, { ...code, challenge: undefined }])
      expect((await redeem(ended)).status).toBe(401);
    expect(await usageOf(person.phone)).toMatchObject({ used: 5 });
  });
});

describe('a change of the number is refused', () => {
  it('within 30 seconds of another one, whose code WhatsApp may have refused, and to a session of over ten minutes', async () => {
    advanceClock(0);
    const [{ token }, { phone: taken }, phone] = [
      await newPerson(),
      await newContact(),
      newPhone(),
    ];
    await sandbox.faults({
      whatsapp: {
        status: 503,
        match: phone.slice(1),
      },
    });
    for (const each of [phone, taken]) {
      expect((await requestChange(token, each)).status).toBe(200);
      for (const again of [each, newPhone()])
        expect((await requestChange(token, again)).status).toBe(429);
      advanceClock(31 * second);
    }
    await sandbox.faults({ whatsapp: null });
    advanceClock(8 * minute);
    const begun = await beginChange(token, phone);
    advanceClock(3 * minute);
    for (const response of [
      await requestChange(token, newPhone()),
      await verifyChange(token, begun),
    ])
      expect(response).toMatchObject({
        status: 403,
        body: { code: 'sign_in_needed' },
      });
  });

  it('by the database’s lost response, and the same call again sends the code at once', async () => {
    advanceClock(0);
    const { token } = await newPerson();
    for (const phone of [newPhone(), (await newPerson()).phone]) {
      const ask = () => requestChange(token, phone);
      expect(
        (
          await during(
            {
              libsql: {
                cut: true,
                match: phone,
              },
            },
            ask,
          )
        ).status,
      ).toBe(503);
      expect((await ask()).status).toBe(200);
      expect((await ask()).status).toBe(429);
      advanceClock(31 * second);
    }
    const change = await beginChange(token);
    expect((await verifyChange(token, change)).status).toBe(200);
  });

  it('without a sign that the number is taken: by the same statements, with as many written rows', async () => {
    advanceClock(0);
    const [{ phone: taken }, ...people] = await Promise.all([
      newContact(),
      newPerson(),
      newPerson(),
      newPerson(),
    ]);
    const [one, two, three] = people.map(({ token }) => token) as [string, string, string];
    const requests = watchDatabase(userOf(one), userOf(two));
    const withoutValues = (text: string) =>
      JSON.parse(text, (key, value) =>
        key === 'args' || key === 'challenge' ? value.length : value,
      );
    /** The response to a request, its statements, and the rows that each wrote. */
    const traceOf = ({ status, text }: Answer) => ({
      response: [status, withoutValues(text)],
      requests: requests.splice(0).map((request) => [withoutValues(request.text), request.written]),
    });
    const ask = async (token: string, phone: string) => {
      const begun = await requestChange(token, phone);
      const traces = [traceOf(begun), traceOf(await requestChange(token, phone))];
      // Another account is limited too.
      expect((await requestChange(three, phone)).status).toBe(429);
      expect((await run('select 1 from phone_changes where phone = ?', phone)).rows).toHaveLength(
        1,
      );
      return { traces, challenge: begun.body.challenge };
    };
    const { traces } = await ask(one, newPhone());
    expect(traces.map(({ response }) => response[0])).toEqual([200, 429]);
    for (const trace of traces) expect(trace.requests).toHaveLength(1);
    const { challenge, ...same } = await ask(two, taken);
    expect(same).toEqual({ traces });
    // A code that is sent later shows that one for this number would have come before.
    await beginChange((await newPerson()).token);
    expect(await sandbox.messages(taken)).toEqual([]);
    expect((await requestOtp(taken)).body.success).toBe(true);
    const guess = { phone: taken, otp: '123456', challenge };
    expect(await verifyChange(two, guess)).toMatchObject({
      status: 401,
      body: { code: 'invalid_code' },
    });
  });

  it('after five wrong codes, after five minutes, with the challenge of another number, and a second time', async () => {
    const [one, two, three] = await Promise.all([newPerson(), newPerson(), newPerson()]);
    const statusOf = async ({ token }: { token: string }, code: Code) =>
      (await verifyChange(token, code)).status;
    const wrong = await beginChange(one.token);
    for (let count = 0; count < 5; count += 1)
      expect(
        (
          await verifyChange(one.token, {
            ...wrong,
            otp: otherThan(wrong.otp),
          })
        ).body.code,
      ).toBe('invalid_code');
    expect(await statusOf(one, wrong)).toBe(401);
    const others = await beginChange(two.token);
    expect(await statusOf(three, others)).toBe(401);
    expect(
      await statusOf(two, {
        ...others,
        phone: newPhone(),
      }),
    ).toBe(401);
    expect([await statusOf(two, others), await statusOf(two, others)]).toEqual([200, 401]);
    const late = await beginChange(three.token);
    advanceClock(5 * minute + second);
    expect(await statusOf(three, late)).toBe(401);
  });
});

it('says that a code of a change is spent, after five wrong ones, after five minutes, and of a taken number alike', async () => {
  const [one, two, other] = await Promise.all([newPerson(), newPerson(), newPerson()]);
  const spent = { status: 401, body: { code: 'code_spent' } };
  const wrong = await beginChange(one.token);
  advanceClock(31 * second);
  const taken = await requestChange(two.token, other.phone);
  expect(taken.status).toBe(200);
  const { challenge } = taken.body;
  const guesses = [
    [one.token, { ...wrong, otp: otherThan(wrong.otp) }],
    [two.token, { phone: other.phone, otp: '123456', challenge }],
  ] as const;
  for (const [token, guess] of guesses) {
    for (let count = 0; count < 5; count += 1)
      expect((await verifyChange(token, guess)).body).toMatchObject({ code: 'invalid_code' });
    expect(await verifyChange(token, guess)).toMatchObject(spent);
  }
  expect(await verifyChange(one.token, wrong)).toMatchObject(spent);

  const late = await beginChange(one.token);
  advanceClock(5 * minute + second);
  expect(await verifyChange(one.token, late)).toMatchObject(spent);
});
