import { describe, expect, it } from 'vitest';
import { botCall, call, parallel } from './support/api.ts';
import { newWriter, reply } from './support/chat.ts';
import { until } from './support/clock.ts';
import { database } from './support/database.ts';
import { costOf } from './support/log.ts';
import { deleteAccount, newContact, newPerson, newPhone, requestOtp, userOf } from './support/person.ts';
import { deliveredEvents } from './support/sandbox.ts';

const newBusinessUserId = () => `US.${crypto.randomUUID().replaceAll('-', '')}`;

/** A signed-in user whose number and id the bot has reported together. */
async function newLinked() {
  const person = await newPerson();
  const businessUserId = newBusinessUserId();
  await botCall('/api/bot/contacts', { phone: person.phone, businessUserId });
  return { ...person, businessUserId };
}

const identityOf = async (phone: string) => {
  const sql = 'select business_user_id as id, proof from identities join users on users.id = user_id where phone = ?';
  return (await database.execute({ sql, args: [phone] })).rows.map(({ id, proof }) => ({ id, proof }));
};

const conflictsOf = async (businessUserId: string) => {
  const sql = 'select user_id, other_user_id from identity_conflicts where business_user_id = ?';
  return (await database.execute({ sql, args: [businessUserId] })).rows.map((row) => [
    row['user_id'],
    row['other_user_id'],
  ]);
};

/** Every call of the bot about a person, with a body that is valid but for the names. */
const calls: [path: string, body: () => Record<string, unknown>][] = [
  ['contacts', () => ({})],
  ['usage', () => ({})],
  ['entitlements', () => ({})],
  ['approvals', () => ({ status: 'approved' })],
  ['trials', () => ({})],
  ['messages', () => ({ id: crypto.randomUUID(), text: 'Hello' })],
  ['typing', () => ({})],
  ['voice', () => ({ id: crypto.randomUUID() })],
  ['referrals', () => ({})],
  ['transcripts', () => ({ id: crypto.randomUUID(), text: 'Hello' })],
];

describe('a contact with number and id', () => {
  it('links the id, and calls with the id alone reach the user', async () => {
    const { phone, businessUserId } = await newLinked();
    expect(await identityOf(phone)).toEqual([{ id: businessUserId, proof: 'contact' }]);
    const { body } = await botCall('/api/bot/usage', { businessUserId });
    expect(body).toMatchObject({ success: true, allowed: true, used: 1 });
    expect((await botCall('/api/bot/entitlements', { phone })).body).toMatchObject({ used: 1 });
    expect((await botCall('/api/bot/usage', { phone, businessUserId })).body).toMatchObject({ used: 2 });
  });

  it('creates the user of a new number, once for twenty at once', async () => {
    const [phone, businessUserId] = [newPhone(), newBusinessUserId()];
    const results = await parallel(20, () => botCall('/api/bot/contacts', { phone, businessUserId }));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await identityOf(phone)).toEqual([{ id: businessUserId, proof: 'contact' }]);
  });

  it('counts for the user of a known id whose number nobody has, and gives nobody that number', async () => {
    const { businessUserId } = await newLinked();
    const other = newPhone();
    expect((await botCall('/api/bot/contacts', { phone: other, businessUserId })).status).toBe(200);
    expect((await requestOtp(other)).body.requiresInitialContact).toBe(true);
  });

  it('gives an id that is known to one of twenty numbers only', async () => {
    const [phones, businessUserId] = [await parallel(20, async () => (await newContact()).phone), newBusinessUserId()];
    const results = await Promise.all(phones.map((phone) => botCall('/api/bot/contacts', { phone, businessUserId })));
    expect(results.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(results.filter(({ status }) => status === 409)).toHaveLength(19);
    expect((await Promise.all(phones.map(identityOf))).flat()).toHaveLength(1);
  });
});

describe('a contact with an id alone', () => {
  it('lifts the limits of the number as any contact does', async () => {
    const { phone, businessUserId } = await newLinked();
    await requestOtp(phone);
    expect((await requestOtp(phone)).status).toBe(429);
    expect((await botCall('/api/bot/contacts', { businessUserId })).body).toEqual({ success: true, known: true });
    await until(
      'the limits of the number are cleared',
      () => requestOtp(phone),
      ({ status }) => status === 200,
    );
  });
});

describe.each(calls)('bot/%s', (name, body) => {
  const path = `/api/bot/${name}`;

  it('refuses a pair of two people with 409, and changes nothing', async () => {
    const [one, other] = await Promise.all([newLinked(), newLinked()]);
    const id = crypto.randomUUID();
    const sent = { phone: one.phone, businessUserId: other.businessUserId, ...body() };
    const first = await botCall(path, sent, id);
    expect([first.status, first.body.code]).toEqual([409, 'conflict']);
    expect((await botCall(path, sent, id)).status).toBe(409);
    expect(await conflictsOf(other.businessUserId)).toEqual([[userOf(one.token), userOf(other.token)]]);
    for (const { phone } of [one, other])
      expect((await botCall('/api/bot/entitlements', { phone })).body).toMatchObject({ used: 0 });
    expect(await identityOf(one.phone)).toEqual([{ id: one.businessUserId, proof: 'contact' }]);
  });

  it('does not open the account of a number that comes with another id', async () => {
    const { phone, token } = await newLinked();
    const businessUserId = newBusinessUserId();
    expect((await botCall(path, { phone, businessUserId, ...body() })).status).toBe(409);
    expect(await conflictsOf(businessUserId)).toEqual([[userOf(token), null]]);
    expect((await botCall('/api/bot/entitlements', { businessUserId })).body.allowed).toBe(false);
  });

  it('knows nobody by an unknown id', async () => {
    const { status, body: response } = await botCall(path, { businessUserId: newBusinessUserId(), ...body() });
    if (['usage', 'entitlements'].includes(name)) expect(response).toMatchObject({ success: true, allowed: false });
    else expect([status, response.code]).toEqual([404, 'not_found']);
  });

  it.each(['', 'us.1', 'USA.1', 'US1', 'US.', 'US.a b', `US.${'1'.repeat(129)}`, 'US.é', 7, null])(
    'refuses the id %j',
    async (businessUserId) => {
      const { status, body: response } = await botCall(path, { businessUserId, ...body() });
      expect([status, response.code, response.issues?.[0]?.path]).toEqual([400, 'invalid_field', 'businessUserId']);
    },
  );

  it('refuses a body that names nobody', async () => {
    const { status, body: response } = await botCall(path, body());
    expect([status, response.code, response.issues[0].path]).toEqual([400, 'invalid_field', 'phone']);
  });
});

it('costs one request of the database, whatever names a person', async () => {
  const { phone, businessUserId } = await newLinked();
  const names = [{ phone }, { businessUserId }, { phone, businessUserId }];
  for (const [name, body] of calls) {
    for (const named of names) {
      // A trial by the id alone reads the number first: only its hash says whether the trial is used.
      const most = name === 'trials' && !('phone' in named) ? 2 : 1;
      const cost = costOf(await botCall(`/api/bot/${name}`, { ...named, ...body() }));
      expect(cost, `${name} ${Object.keys(named).join()}`).toBe(most);
    }
  }
});

it('writes into the conversation of an id', async () => {
  const { phone, token } = await newWriter();
  const businessUserId = newBusinessUserId();
  await botCall('/api/bot/contacts', { phone, businessUserId });
  const message = { businessUserId, id: crypto.randomUUID(), text: 'Hello' };
  expect((await botCall('/api/bot/messages', message)).body.success).toBe(true);
  expect((await reply(phone, 'Again')).status).toBe(200);
  const { body } = await call('GET', '/api/user/chat', { token });
  expect(body.messages.map(({ text }: { text: string }) => text)).toEqual(['Hello', 'Again']);
});

it('stands in the export and in the events, and goes with the account', async () => {
  const { phone, token, businessUserId } = await newLinked();
  const { body } = await call('GET', '/api/user/export', { token });
  expect(body.identities).toMatchObject([{ businessUserId, proof: 'contact' }]);
  await botCall('/api/bot/approvals', { businessUserId, status: 'pending' });
  await botCall('/api/bot/approvals', { businessUserId, status: 'approved' });
  await expect.poll(() => eventsOf(phone), { timeout: 30_000 }).toContainEqual(['user.approved', businessUserId]);
  expect((await deleteAccount(token)).status).toBe(200);
  await expect.poll(() => eventsOf(phone), { timeout: 30_000 }).toContainEqual(['user.deleted', businessUserId]);
  expect((await botCall('/api/bot/contacts', { businessUserId })).status).toBe(404);
});

const eventsOf = async (phone: string) =>
  (await deliveredEvents(phone)).map(({ type, data }) => [type, data['businessUserId']]);
