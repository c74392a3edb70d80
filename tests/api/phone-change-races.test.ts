import { describe, expect, it } from 'vitest';
import {
  type Answer,
  botCall,
  call,
  cronAfter,
  parallel,
  runCron,
  tally,
  vars,
} from './support/api.ts';
import { buy, newSubscriber, newBuyer } from './support/buying.ts';
import { advanceClock, day, second } from './support/clock.ts';
import { type Code, beginChange, requestOtp, verifyChange } from './support/codes.ts';
import {
  eventTypes,
  newBusinessUserId,
  newContact,
  newPhone,
  post,
  usageOf,
} from './support/contacts.ts';
import { deleteAccount, externalSession, getMe, newPerson, userOf } from './support/person.ts';
import { startHeld } from './support/requests.ts';
import {
  columnsWith,
  deliveredEvents,
  during,
  outboxOf,
  totalsOfToday,
} from './support/sandbox.ts';
import { OpenStream } from './support/streams.ts';
import { supportToken } from '../../worker/sign-in/session-token.ts';
import { customerOf, stripe } from './support/stripe.ts';
import { change, untilAtStripe } from './support/phone-changes.ts';
import { fullUnless } from '../long-tours.ts';

describe('races of a change of the number', () => {
  it('moves once for twenty verifications at once, and is counted once for its day without the person', async () => {
    // A day on which no other test counts.
    advanceClock(1200 * day);
    const { token } = await newPerson();
    const begun = await beginChange(token);
    expect(tally(await parallel(20, () => verifyChange(token, begun)))).toEqual({
      200: 1,
      401: 19,
    });
    expect(await outboxOf(begun.phone)).toHaveLength(1);
    expect(await totalsOfToday()).toEqual([
      {
        kind: 'number_change',
        detail: '',
        n: 1,
      },
    ]);
  });

  it('gives a number that five accounts want to one of them, and the others keep theirs after a 409', async () => {
    const phone = newPhone();
    const people = await parallel(5, () => newPerson());
    const begun: Code[] = [];
    for (const { token } of people) {
      begun.push(await beginChange(token, phone));
      advanceClock(31 * second);
    }
    const results = await parallel(5, (index) => verifyChange(people[index]!.token, begun[index]!));
    expect(tally(results)).toEqual({ 200: 1, 409: 4 });
    const late = results.findIndex(({ status }) => status === 409);
    expect(results[late]!.body.code).toBe('conflict');
    expect((await getMe(people[late]!.token)).body.profile.phoneNumber).toBe(people[late]!.phone);
  });

  for (const service of ['Stripe', 'the database'])
    it(
      `leaves only the free week beside a deletion held at ${service}`,
      fullUnless(service === 'the database'),
      async () => {
        const { phone: old, token } = await newPerson();
        const { resetsAt } = (await post(old, 3)).body;
        await buy(token, 'basic');
        const [begun, customer] = [await beginChange(token), await customerOf(old)];
        const marks =
          service === 'Stripe' ? ['DELETE', customer] : ['user.deleted', 'chat_erasures'];
        const deletion = await startHeld(() => deleteAccount(token), ...marks);
        expect((await verifyChange(token, begun)).status).toBe(200);
        expect((await deletion.finish()).status).toBe(200);
        expect((await getMe(token)).status).toBe(401);
        expect((await eventTypes(begun.phone)).at(-1)).toBe('user.deleted');
        // The response to the call of the bot has the user's id.
        expect(await columnsWith([userOf(token), old.slice(1), begun.phone.slice(1)])).toEqual([
          'bot_calls.facts',
        ]);
        expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
        await newContact(begun.phone);
        expect(await usageOf(begun.phone)).toMatchObject({
          used: 3,
          resetsAt,
        });
      },
    );

  it('leaves nothing of an account that is deleted while its change is held', async () => {
    const { phone, token } = await newPerson();
    const begun = await beginChange(token);
    const moving = await startHeld(
      () => verifyChange(token, begun),
      begun.phone,
      'user.phone_changed',
    );
    expect((await deleteAccount(token)).status).toBe(200);
    expect((await moving.finish()).status).toBe(401);
    expect(await eventTypes(phone)).toEqual(['user.deleted']);
    expect(await columnsWith([userOf(token), phone.slice(1), begun.phone.slice(1)])).toEqual([]);
  });

  it('gives its customer the new number, also one that a purchase creates at that moment', async () => {
    const { token } = await newPerson();
    const begun = await beginChange(token);
    const purchase = await startHeld(() => buy(token, 'basic'), '/v1/customers\n', userOf(token));
    expect((await verifyChange(token, begun)).status).toBe(200);
    expect((await purchase.finish()).status).toBe(200);
    await runCron();
    await untilAtStripe(await customerOf(begun.phone), begun.phone);
  });

  const makeLink = (phone: string) => botCall('/api/bot/trials', { phone });
  const openLink = ({ body }: Answer) => {
    const trialToken = new URL(body.url).searchParams.get('token');
    return call('POST', '/auth/verify-trial-token', { body: { trialToken } });
  };

  it('by support ends the trial links that were sent to the lost number', async () => {
    const person = await newPerson();
    const link = await makeLink(person.phone);
    const { phone, move } = await supportMover(person);
    expect((await move()).status).toBe(200);
    expect((await openLink(link)).body.code).toBe('invalid_token');
    expect((await openLink(await makeLink(phone))).status).toBe(200);
  });

  it('takes along a trial link and an id that the bot brings after the rows to move were read', async () => {
    const { phone: old, token } = await newPerson();
    const [begun, businessUserId] = [await beginChange(token), newBusinessUserId()];
    const moving = await startHeld(
      () => verifyChange(token, begun),
      begun.phone,
      'user.phone_changed',
    );
    const link = await makeLink(old);
    await botCall('/api/bot/contacts', { phone: old, businessUserId });
    expect((await moving.finish()).status).toBe(200);
    expect((await openLink(link)).status).toBe(200);
    const { body } = await botCall('/api/bot/usage', { businessUserId });
    expect(body).toMatchObject({ allowed: true });
  });

  for (const first of ['links', 'the move'])
    it(
      `loses none of fifty trial links beside it, begun with ${first}`,
      fullUnless(first === 'links'),
      async () => {
        const { phone: old, token } = await newPerson();
        const begun = await beginChange(token);
        const moveAt = first === 'links' ? 25 : 0;
        const results = await parallel(51, (index) =>
          index === moveAt ? verifyChange(token, begun) : makeLink(old),
        );
        const [moved] = results.splice(moveAt, 1);
        expect(moved!.status).toBe(200);
        const links = results.filter(({ status }) => status !== 404);
        links.push(await makeLink(begun.phone));
        const opened: string[] = [];
        for (const link of links) opened.push((await openLink(link)).body.code ?? 'opened');
        expect(opened).toEqual(['opened', ...links.slice(1).map(() => 'trial_spent')]);
      },
    );

  it.each(['the sync', 'the change'])(
    'keeps plan and number where %s is first, and the stream',
    async (first) => {
      const { phone, customer } = await newSubscriber('premium');
      const [token, other] = [await externalSession(phone), await externalSession(phone)];
      const [stream, ending] = [await OpenStream.open(token), await OpenStream.open(other)];
      const begun = await beginChange(token);
      const cancel = () => call('POST', '/api/billing/cancel', { token });
      const move = () => verifyChange(token, begun);
      // The sync has read the account, or the change its permission, when the other one does its whole work.
      const [marks, slow, quick] =
        first === 'the sync'
          ? [[begun.phone, 'user.phone_changed'], move, cancel]
          : [['/v1/subscriptions', customer], cancel, move];
      const later = await startHeld(slow, ...marks);
      expect((await quick()).status).toBe(200);
      expect((await later.finish()).status).toBe(200);

      expect((await getMe(token)).body.profile).toMatchObject({
        phoneNumber: begun.phone,
        metadata: {
          subscriptionTier: 'premium',
          subscriptionStatus: 'cancellation_scheduled',
        },
      });
      await ending.until(({ ended }) => ended);
      await post(begun.phone);
      await stream.showing(1);
      expect(stream.ended).toBe(false);
      await untilAtStripe(customer, begun.phone);
      await deliveredEvents(begun.phone);
      expect(await columnsWith([phone.slice(1)])).toEqual([]);
    },
  );
});

/** Moves an account to a number as `support move` does: every call under one token. */
async function supportMover({ token }: { token: string }, phone = newPhone()) {
  const support = await supportToken({ SESSION_KEYS: vars.SESSION_KEYS! }, userOf(token));
  const body = { phone };
  const move = () =>
    call('POST', '/api/support/account/phone', {
      token: support,
      body,
    });
  return { phone, move };
}

describe('a move by support under one token', () => {
  it('is made once for fifty at once, told once, and counted once', async () => {
    // A day on which no other test counts.
    advanceClock(1300 * day);
    const person = await newPerson();
    const { phone, move } = await supportMover(person);
    expect(tally(await parallel(50, move))).toEqual({ 200: 50 });
    expect(await outboxOf(phone)).toHaveLength(1);
    expect(await totalsOfToday()).toEqual([
      {
        kind: 'number_change',
        detail: '',
        n: 1,
      },
    ]);
    expect((await getMe(person.token)).status).toBe(401);
  });

  it('ends no later session when it is repeated, its response lost', async () => {
    const person = await newPerson();
    const { phone, move } = await supportMover(person);
    expect(
      (
        await during(
          {
            libsql: {
              cut: true,
              match: phone,
            },
          },
          move,
        )
      ).status,
    ).toBe(503);
    const token = await externalSession(phone);
    const stream = await OpenStream.open(token);
    expect((await move()).status).toBe(200);
    expect((await getMe(token)).body.profile.phoneNumber).toBe(phone);
    await post(phone);
    await stream.showing(1);
    expect(stream.ended).toBe(false);
    await runCron();
    expect(await deliveredEvents(phone)).toMatchObject([
      {
        type: 'user.phone_changed',
        data: {
          phone,
          previousPhone: person.phone,
        },
      },
    ]);
  });
});

describe('a change whose response is lost', () => {
  it('is made, told and counted once, and the same code makes no second one', async () => {
    advanceClock(1301 * day);
    const { phone, token } = await newPerson();
    const other = await externalSession(phone);
    const begun = await beginChange(token);
    const verify = () => verifyChange(token, begun);
    expect(
      (
        await during(
          {
            libsql: {
              cut: true,
              match: begun.phone,
            },
          },
          verify,
        )
      ).status,
    ).toBe(503);
    expect(await verify()).toMatchObject({
      status: 401,
      body: { code: 'invalid_code' },
    });
    expect((await getMe(token)).body.profile.phoneNumber).toBe(begun.phone);
    expect((await getMe(other)).status).toBe(401);
    expect(await outboxOf(begun.phone)).toHaveLength(1);
    expect(await totalsOfToday()).toEqual([
      {
        kind: 'number_change',
        detail: '',
        n: 1,
      },
    ]);
  });

  it('before the move makes none, and another code makes it', async () => {
    const { phone: old, token } = await newPerson();
    const begun = await beginChange(token);
    const verify = () => verifyChange(token, begun);
    // Only the check of the code reads it by the user's id.
    const lost = { libsql: { cut: true, match: userOf(token) } } as const;
    expect((await during(lost, verify)).status).toBe(503);
    expect((await verify()).body.code).toBe('code_spent');
    expect((await getMe(token)).body.profile.phoneNumber).toBe(old);
    advanceClock(31 * second);
    const { phone } = await change({ token });
    expect((await getMe(token)).body.profile.phoneNumber).toBe(phone);
  });
});

it('keeps one of two changes of an account that are verified at once', async () => {
  advanceClock(1302 * day);
  const { token } = await newPerson();
  const [one, two] = [
    await beginChange(token),
    (advanceClock(31 * second), await beginChange(token)),
  ];
  const answers = await parallel(2, (index) => verifyChange(token, [one, two][index]!));
  const kept = answers.findIndex(({ status }) => status === 200);
  const [made, ended] = kept === 0 ? [one, two] : [two, one];
  expect(tally(answers)).toEqual({ 200: 1, 401: 1 });
  expect((await verifyChange(token, ended)).body.code).toBe('invalid_code');
  expect((await getMe(token)).body.profile.phoneNumber).toBe(made.phone);
  expect(await outboxOf(made.phone)).toHaveLength(1);
  expect(await totalsOfToday()).toEqual([
    {
      kind: 'number_change',
      detail: '',
      n: 1,
    },
  ]);
  expect((await requestOtp(ended.phone)).body.requiresInitialContact).toBe(true);
});

it('refuses the code of a change that another one of the account has overtaken', async () => {
  const { token } = await newPerson();
  const late = await beginChange(token);
  advanceClock(31 * second);
  const first = await beginChange(token);
  const verify = () => verifyChange(token, late);
  const moving = await startHeld(verify, late.phone, 'user.phone_changed');
  expect((await verifyChange(token, first)).status).toBe(200);
  expect(await moving.finish()).toMatchObject({
    status: 401,
    body: { code: 'code_spent' },
  });
  expect(await verify()).toMatchObject({
    status: 401,
    body: { code: 'invalid_code' },
  });
  expect((await getMe(token)).body.profile.phoneNumber).toBe(first.phone);
  expect(await deliveredEvents(first.phone)).toMatchObject([{ type: 'user.phone_changed' }]);
});

describe('the cron job gives the customer at Stripe the new number', () => {
  const people = {
    'of a subscriber': async () => newSubscriber('basic'),
    'of somebody who has opened a checkout': newBuyer,
  };

  it.each(Object.entries(people))('%s, if the response of the move is lost', async (_, open) => {
    const { token, customer } = await open();
    const begun = await beginChange(token);
    const lost = { libsql: { cut: true, match: begun.phone } } as const;
    expect((await during(lost, () => verifyChange(token, begun))).status).toBe(503);
    await runCron();
    await untilAtStripe(customer, begun.phone);
  });

  for (const [who, open] of Object.entries(people))
    it(`${who}, if Stripe does not respond`, fullUnless(open === newBuyer), async () => {
      const { token, customer } = await open();
      const body = await beginChange(token);
      const { phone } = body;
      // With settings a call returns when its background work has ended.
      const verify = () =>
        call('POST', '/api/user/phone/verify', {
          token,
          body,
          settings: {},
        });
      expect(
        (
          await during(
            {
              stripe: {
                drop: true,
                match: customer,
              },
            },
            verify,
          )
        ).status,
      ).toBe(200);
      await cronAfter(second);
      await untilAtStripe(customer, phone);
    });

  it('of somebody whose customer is found again at that moment', async () => {
    const person = await newPerson();
    const lost = {
      stripe: {
        cut: true,
        path: '/v1/customers',
        match: userOf(person.token),
      },
    } as const;
    expect((await during(lost, () => buy(person.token, 'basic'))).status).toBe(503);
    const begun = await beginChange(person.token);
    const sync = await startHeld(() => cronAfter(second), '/v1/customers\n', userOf(person.token));
    expect((await verifyChange(person.token, begun)).status).toBe(200);
    await sync.finish();
    await runCron();
    await untilAtStripe(await customerOf(begun.phone), begun.phone);
  });
});
