import { describe, expect, it } from 'vitest';
import { botCall, call, parallel, runCron } from './support/api.ts';
import { newWriter, readChat, write } from './support/chat.ts';
import { advanceClock, day, second, until } from './support/clock.ts';
import { beginChange, newCode, redeem, requestCode, verifyChange } from './support/codes.ts';
import { contact, linkedTo, newBusinessUserId } from './support/contacts.ts';
import {
  deleteAccount,
  exportOf,
  externalSession,
  getMe,
  newPerson,
  userOf,
} from './support/person.ts';
import { costOf, logLines } from './support/requests.ts';
import { run } from './support/sandbox.ts';

/* A number that WhatsApp reports with another id than its own may have been given to somebody else. */

/** Somebody with a conversation, whose number and id are known. */
async function newOwner() {
  const owner = await newWriter();
  const businessUserId = newBusinessUserId();
  await contact({ phone: owner.phone, businessUserId });
  await write(owner.token, 'Something private');
  return { ...owner, businessUserId };
}

/** The number comes with another id; the limit between two codes passes. */
async function reportAnother(phone: string, businessUserId = newBusinessUserId()) {
  expect((await contact({ phone, businessUserId })).status).toBe(409);
  advanceClock(31 * second);
  return businessUserId;
}

const signIn = async (phone: string) => (await redeem(await requestCode(phone))).body.token;

const mayHaveNewOwner = {
  status: 403,
  body: {
    success: false,
    code: 'sign_in_needed',
    newOwner: true,
    message: 'This number may have a new owner. Please write to our support to see this.',
  },
};
const privateReads = ['/api/user/chat', '/api/user/export', '/api/user/sessions'];

async function expectLimited(token: string) {
  for (const path of privateReads)
    expect(await call('GET', path, { token }), path).toMatchObject(mayHaveNewOwner);
  expect((await getMe(token)).status).toBe(200);
}

async function expectFull(token: string) {
  for (const path of privateReads)
    expect(await call('GET', path, { token }), path).toMatchObject({ status: 200 });
}

const conflictsOf = async (...tokens: string[]) => {
  const ids = tokens.map((token) => `'${userOf(token)}'`).join();
  const where = `user_id in (${ids}) or other_user_id in (${ids})`;
  return (await run(`select 1 from identity_conflicts where ${where}`)).rows;
};

/** Whether it is contested, by each of the two rows that say so. */
async function marksOf(phone: string) {
  const marks = `select is_contested as user, proof = 'contested' as number
    from users join aliases on aliases.user_id = users.id and kind = 'phone' where phone = ?`;
  const [row] = (await run(marks, phone)).rows;
  return [row!['user'], row!['number']];
}

describe('a number that comes with another id than its own', () => {
  it.each(['its id alone', 'number and id'])(
    'opens limited sessions only from then on, until the old id writes again, by %s',
    async (names) => {
      const owner = await newOwner();
      const { phone, businessUserId } = owner;
      await reportAnother(phone);
      const refused = await signIn(phone);
      await expectLimited(refused);
      await expectLimited(await externalSession(phone));
      expect(
        await call('POST', '/api/auth/logout', {
          token: refused,
          body: { everywhere: true },
        }),
      ).toMatchObject(mayHaveNewOwner);
      expect((await readChat(owner.token)).messages).toHaveLength(1);

      await contact({ phone });
      await contact({ businessUserId: newBusinessUserId() });
      await expectLimited(await signIn(phone));

      await contact({
        businessUserId,
        ...(names === 'number and id' && { phone }),
      });
      // By an id alone it ends after the response.
      await until('the end of the contest', async () => !(await marksOf(phone)).includes(1));
      advanceClock(31 * second);
      await expectFull(await signIn(phone));
      // Its own session stays limited, and a code helps now.
      const { body } = await call('GET', '/api/user/chat', { token: refused });
      expect([body.code, body.newOwner]).toEqual(['sign_in_needed', undefined]);
    },
  );

  it('opens limited sessions only, also by the id of somebody else who has an account', async () => {
    const [owner, other] = [await newOwner(), await newOwner()];
    await reportAnother(owner.phone, other.businessUserId);
    await expectLimited(await signIn(owner.phone));
    await expectFull(await signIn(other.phone));
    // A number without an id of its own, too.
    const { phone } = await newPerson();
    await reportAnother(phone, other.businessUserId);
    await expectLimited(await signIn(phone));
    await contact({ phone, businessUserId: newBusinessUserId() });
    advanceClock(31 * second);
    await expectLimited(await signIn(phone));
  });

  it('opens no full session once the report is answered, for fifty sign-ins at once', async () => {
    const { phone } = await newOwner();
    const code = await newCode(phone);
    await reportAnother(phone);
    const tokens = await parallel(50, (index) =>
      index === 0 ? redeem(code).then(({ body }) => body.token) : externalSession(phone),
    );
    const sessions = 'select 1 from sessions join users on users.id = user_id where phone = ?';
    const limited = await run(`${sessions} and is_limited`, phone);
    expect(limited.rows).toHaveLength(tokens.filter(Boolean).length);
    await expectLimited(tokens[0]);
  });

  it('is contested by both of its rows or by none, for fifty messages of two ids at once', async () => {
    const { phone, businessUserId } = await newOwner();
    const other = newBusinessUserId();
    await parallel(50, (index) =>
      contact({
        phone,
        businessUserId: index % 2 ? other : businessUserId,
      }),
    );
    const [user, number] = await marksOf(phone);
    expect(user).toBe(number);
    await contact({ phone, businessUserId });
    expect(await marksOf(phone)).toEqual([0, 0]);
  });

  it('is bound to no other id meanwhile, also without an id of its own', async () => {
    const [{ phone }, other] = [await newPerson(), await newOwner()];
    await reportAnother(phone, other.businessUserId);
    const businessUserId = newBusinessUserId();
    for (const names of [{ phone, businessUserId }, { businessUserId }, { phone, businessUserId }])
      await contact(names);
    expect(await linkedTo(phone)).toEqual([]);
    expect(await marksOf(phone)).toEqual([1, 1]);
  });

  it('costs a sign-in and a refusal one request of the database', async () => {
    const { phone } = await newOwner();
    await reportAnother(phone);
    const signedIn = await redeem(await requestCode(phone));
    expect(costOf(signedIn)).toBe(1);
    const { token } = signedIn.body;
    expect(costOf(await call('GET', '/api/user/chat', { token }))).toBe(1);
  });

  it('is told to the owner once for each id', async () => {
    const { phone } = await newOwner();
    const businessUserId = newBusinessUserId();
    const before = logLines('number_contested').length;
    await parallel(5, () =>
      botCall('/api/bot/usage', {
        phone,
        businessUserId,
      }),
    );
    await reportAnother(phone, businessUserId);
    const lines = logLines('number_contested').slice(before);
    expect(lines).toMatchObject([{ level: 'error' }]);
    expect(JSON.stringify(lines)).not.toMatch(phone.slice(1));
  });
});

describe('a conflict of ids', () => {
  it('is erased after 90 days, and the number stays limited', { tags: ['full'] }, async () => {
    const { phone, token } = await newOwner();
    await reportAnother(phone);
    advanceClock(90 * day - 60 * second);
    await runCron();
    expect(await conflictsOf(token)).toHaveLength(1);
    advanceClock(61 * second);
    await runCron();
    expect(await conflictsOf(token)).toEqual([]);
    await expectLimited(await signIn(phone));
  });

  it('stands in the export of both, and goes with either account', async () => {
    const at = { at: expect.any(String), lastAt: expect.any(String) };
    const [owner, other, third] = [await newOwner(), await newOwner(), await newOwner()];
    await reportAnother(owner.phone, other.businessUserId);
    await reportAnother(third.phone, other.businessUserId);
    for (const [{ token }, count] of [
      [owner, 1],
      [other, 2],
    ] as const)
      expect((await exportOf(token)).body.identityConflicts).toEqual(
        Array.from({ length: count }, () => at),
      );
    await deleteAccount(owner.token);
    expect(await conflictsOf(other.token)).toHaveLength(1);
    await deleteAccount(other.token);
    expect(await conflictsOf(other.token, third.token)).toEqual([]);
    await expectLimited(await signIn(third.phone));
  });

  it('is of the person who has the id by now, too', async () => {
    const owner = await newOwner();
    const businessUserId = await reportAnother(owner.phone);
    const later = await newPerson();
    await contact({ phone: later.phone, businessUserId });
    expect((await exportOf(later.token)).body.identityConflicts).toHaveLength(1);
    await deleteAccount(later.token);
    expect(await conflictsOf(owner.token)).toEqual([]);
  });

  it('ends with a move of the account to another number', async () => {
    const { phone, token } = await newOwner();
    await reportAnother(phone);
    const change = await beginChange(token);
    expect((await verifyChange(token, change)).status).toBe(200);
    advanceClock(31 * second);
    await expectFull(await signIn(change.phone));
    await contact({ phone });
    await expectFull(await signIn(phone));
  });

  it('buys nothing, which would belong to the earlier owner', async () => {
    const { phone } = await newOwner();
    await reportAnother(phone);
    const token = await signIn(phone);
    const path = '/api/billing/create-subscription-update-session';
    for (const body of [{ tier: 'basic' }, {}])
      expect(
        await call('POST', path, {
          token,
          body,
        }),
      ).toMatchObject(mayHaveNewOwner);
  });
});
