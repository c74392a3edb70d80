import { describe, expect, it } from 'vitest';
import { botCall, botPaths, parallel, tally, invalidField } from './support/api.ts';
import { consent, textsOf } from './support/chat.ts';
import { advanceClock, eventually } from './support/clock.ts';
import { redeem, requestCode, requestOtp } from './support/codes.ts';
import { linkedTo, newBusinessUserId, newContact, newPhone, contact } from './support/contacts.ts';
import {
  deleteAccount,
  exportOf,
  externalSession,
  newPerson,
  type Person,
  userOf,
} from './support/person.ts';
import { costOf } from './support/requests.ts';
import { deliveredEvents, run, sandbox } from './support/sandbox.ts';

const usageOf = async (names: object) => (await botCall('/api/bot/usage', names)).body;
const entitlementsOf = async (names: object) =>
  (await botCall('/api/bot/entitlements', names)).body;

/** A signed-in user whose number and id the bot has reported together. */
async function newLinked() {
  const person = await newPerson();
  const businessUserId = newBusinessUserId();
  await contact({ phone: person.phone, businessUserId });
  return { ...person, businessUserId };
}

const query = async (sql: string, ...args: string[]) => (await run(sql, ...args)).rows;

/** The names of a user: value and proof by kind. */
async function namesOf(userId: string) {
  const rows = await query('select kind, value, proof from aliases where user_id = ?', userId);
  return Object.fromEntries(rows.map(({ kind, value, proof }) => [kind, [value, proof]]));
}

describe('a contact with number and id', () => {
  it('links the id: calls with it alone reach the user, and a contact lifts the limits of the number', async () => {
    // The limits end by the contact alone, since the clock stands still.
    advanceClock(0);
    const { phone, businessUserId } = await newLinked();
    expect(await linkedTo(phone)).toEqual([[businessUserId, 'contact']]);
    expect(await usageOf({ businessUserId })).toMatchObject({
      success: true,
      allowed: true,
      used: 1,
    });
    expect(await entitlementsOf({ phone })).toMatchObject({ used: 1 });
    expect(
      await usageOf({
        phone,
        businessUserId,
      }),
    ).toMatchObject({ used: 2 });
    await requestOtp(phone);
    expect((await requestOtp(phone)).status).toBe(429);
    expect((await contact({ businessUserId })).body).toEqual({
      success: true,
      known: true,
    });
    await eventually(async () => expect((await requestOtp(phone)).status).toBe(200));
    // Nobody has this number, and nobody gets it.
    const other = newPhone();
    expect(
      (
        await contact({
          phone: other,
          businessUserId,
        })
      ).status,
    ).toBe(200);
    expect((await requestOtp(other)).body.requiresInitialContact).toBe(true);
  });

  it('creates one user of a new number, for twenty at once, beside sign-ins by token', async () => {
    const [phone, businessUserId] = [newPhone(), newBusinessUserId()];
    const users = await parallel(20, async () => {
      expect((await contact({ phone, businessUserId })).status).toBe(200);
      return userOf(await externalSession(phone));
    });
    expect(new Set(users).size).toBe(1);
    expect(await linkedTo(phone)).toEqual([[businessUserId, 'contact']]);
    expect(await query('select user_id from aliases where value = ?', phone)).toMatchObject([
      { user_id: users[0] },
    ]);
  });

  it('gives an id that is known to one of twenty numbers only', async () => {
    const [phones, businessUserId] = [
      await parallel(20, async () => (await newContact()).phone),
      newBusinessUserId(),
    ];
    const results = await Promise.all(
      phones.map((phone) =>
        contact({
          phone,
          businessUserId,
        }),
      ),
    );
    expect(tally(results)).toEqual({ 200: 1, 409: 19 });
    expect((await Promise.all(phones.map(linkedTo))).flat()).toHaveLength(1);
  });
});

const id = '6c08491b-1760-428f-813b-8446782cb4c7';

/** What the bodies of the bot's calls about a person have besides the names. */
const message = { id, text: 'Hello' };
const bodies = {
  approvals: { status: 'approved' },
  messages: message,
  transcripts: message,
  voice: { id },
};
describe.each(botPaths)('%s', (path) => {
  const name = path.split('/').at(-1)!;
  const body = name in bodies ? bodies[name as keyof typeof bodies] : {};
  const post = (names: object, callId?: string) => botCall(path, { ...names, ...body }, callId);

  it('refuses a number with the id of another person or a new one by 409, also again, and changes nothing', async () => {
    const [one, other, callId] = [await newLinked(), await newLinked(), crypto.randomUUID()];
    const pair = {
      phone: one.phone,
      businessUserId: other.businessUserId,
    };
    for (let time = 0; time < 2; time += 1)
      expect(await post(pair, callId)).toMatchObject({
        status: 409,
        body: { code: 'conflict' },
      });
    const businessUserId = newBusinessUserId();
    expect(
      (
        await post({
          phone: one.phone,
          businessUserId,
        })
      ).status,
    ).toBe(409);
    const conflicts =
      'select id_mac as mac, other_user_id as other from identity_conflicts where user_id = ?';
    expect(await query(`${conflicts} order by other is null`, userOf(one.token))).toMatchObject([
      { mac: expect.stringMatching(/^[0-9a-f]{64}$/), other: userOf(other.token) },
      { mac: expect.stringMatching(/^[0-9a-f]{64}$/), other: null },
    ]);
    for (const { phone } of [one, other])
      expect(await entitlementsOf({ phone })).toMatchObject({ used: 0 });
    expect((await entitlementsOf({ businessUserId })).allowed).toBe(false);
    expect(await linkedTo(one.phone)).toEqual([[one.businessUserId, 'contact']]);
  });

  it('knows nobody by an unknown id, and refuses a malformed one and a body that names nobody', async () => {
    const unknown = await post({ businessUserId: newBusinessUserId() });
    if (['usage', 'entitlements'].includes(name))
      expect(unknown.body).toMatchObject({
        success: true,
        allowed: false,
      });
    else expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found']);
    const malformed = [
      '',
      'us.1',
      'USA.1',
      'US1',
      'US.',
      'US.a b',
      `US.${'1'.repeat(129)}`,
      'US.é',
      7,
      null,
    ];
    for (const businessUserId of malformed)
      expect(await post({ businessUserId }), `${businessUserId}`).toMatchObject(
        invalidField('businessUserId'),
      );
    expect(await post({})).toMatchObject(invalidField('phone'));
  });

  it('costs one request of the database, whatever names a person', async () => {
    const { phone, businessUserId } = await newLinked();
    for (const names of [{ phone }, { businessUserId }, { phone, businessUserId }]) {
      // A trial by the id alone reads the number first: only its hash says whether the trial is used.
      const most = name === 'trials' && !('phone' in names) ? 2 : 1;
      expect(costOf(await post(names)), Object.keys(names).join()).toBe(most);
    }
  });
});

it('writes into the conversation of an id', async () => {
  const { token, businessUserId } = await newLinked();
  await consent(token);
  expect(
    (
      await botCall('/api/bot/messages', {
        businessUserId,
        id,
        text: 'Hello',
      })
    ).body.success,
  ).toBe(true);
  expect(await textsOf({ token })).toEqual(['Hello']);
});

describe('the names of a user', () => {
  it('have the proof that is known, stand in the export and in the events, and go with the account', async () => {
    const digits = `5491${newPhone().slice(-9)}`;
    const phone = `+54${digits.slice(3)}`;
    const token = await externalSession(phone);
    const userId = userOf(token);
    expect(await namesOf(userId)).toEqual({ phone: [phone, 'token'] });
    await contact({ phone });
    const typed = {
      phone: [phone, 'contact'],
      whatsapp: [phone.slice(1), 'typed'],
    };
    expect(await namesOf(userId)).toEqual(typed);
    await contact({ phone, whatsappId: digits });
    const businessUserId = newBusinessUserId();
    await contact({ phone, businessUserId });
    await externalSession(phone);
    const names = {
      ...typed,
      whatsapp: [digits, 'contact'],
      business: [businessUserId, 'contact'],
    };
    expect(await namesOf(userId)).toEqual(names);
    const { identities } = (await exportOf(token)).body;
    for (const [kind, [value, proof]] of Object.entries(names))
      expect(identities).toContainEqual({
        kind,
        value,
        proof,
        at: expect.any(String),
      });
    const events = async () =>
      (await deliveredEvents(phone)).map(({ type, data }) => [type, data['businessUserId']]);
    for (const status of ['pending', 'approved'])
      await botCall('/api/bot/approvals', { businessUserId, status });
    expect(await events()).toContainEqual(['user.approved', businessUserId]);
    expect((await deleteAccount(token)).status).toBe(200);
    expect(await events()).toContainEqual(['user.deleted', businessUserId]);
    expect((await contact({ businessUserId })).status).toBe(404);
  });

  it('never take a spelling from somebody else, and no code goes to it', async () => {
    const [one, other] = [await newPerson(), await newPerson()];
    const whatsappOf = async ({ token }: Person) => (await namesOf(userOf(token)))['whatsapp'];
    expect(await whatsappOf(one)).toEqual([one.phone.slice(1), 'typed']);
    await contact({ phone: other.phone });
    expect((await redeem(await requestCode(other.phone))).status).toBe(200);
    expect(await sandbox.messages(one.phone)).toHaveLength(1);
    await contact({
      phone: other.phone,
      whatsappId: other.phone.slice(1),
    });
    expect(await whatsappOf(other)).toEqual([other.phone.slice(1), 'contact']);
  });
});
