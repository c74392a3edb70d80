import { describe, expect, it } from 'vitest';
import { botCall, call, parallel } from './support/api.ts';
import { newWriter, reply } from './support/chat.ts';
import { until } from './support/clock.ts';
import { database } from './support/database.ts';
import { costOf } from './support/log.ts';
import {
  deleteAccount,
  externalSession,
  newContact,
  newPerson,
  newPhone,
  requestOtp,
  userOf,
} from './support/person.ts';
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
  const sql = `select value as id, proof from aliases join users on users.id = user_id where phone = ? and kind = 'business'`;
  return (await database.execute({ sql, args: [phone] })).rows.map(({ id, proof }) => ({ id, proof }));
};

/** The names of a user: value and proof by kind. */
const namesOf = async (userId: string) => {
  const sql = 'select kind, value, proof from aliases where user_id = ?';
  const { rows } = await database.execute({ sql, args: [userId] });
  return Object.fromEntries(rows.map(({ kind, value, proof }) => [kind, [value, proof]]));
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
  const named = { proof: 'contact', at: expect.any(String) };
  expect(body.identities).toContainEqual({ kind: 'business', value: businessUserId, ...named });
  expect(body.identities).toContainEqual({ kind: 'phone', value: phone, ...named });
  await botCall('/api/bot/approvals', { businessUserId, status: 'pending' });
  await botCall('/api/bot/approvals', { businessUserId, status: 'approved' });
  await expect.poll(() => eventsOf(phone), { timeout: 30_000 }).toContainEqual(['user.approved', businessUserId]);
  expect((await deleteAccount(token)).status).toBe(200);
  await expect.poll(() => eventsOf(phone), { timeout: 30_000 }).toContainEqual(['user.deleted', businessUserId]);
  expect((await botCall('/api/bot/contacts', { businessUserId })).status).toBe(404);
});

const eventsOf = async (phone: string) =>
  (await deliveredEvents(phone)).map(({ type, data }) => [type, data['businessUserId']]);

describe('the names of a user', () => {
  it('have the proof that is known, and the spelling that WhatsApp reports', async () => {
    const phone = '+5491' + newPhone().slice(-9);
    const digits = phone.slice(1);
    const canonical = `+54${digits.slice(3)}`;
    const token = await externalSession(canonical);
    const userId = userOf(token);
    expect(await namesOf(userId)).toEqual({ phone: [canonical, 'token'] });
    await botCall('/api/bot/contacts', { phone: canonical });
    const typed = { phone: [canonical, 'contact'], whatsapp: [canonical.slice(1), 'typed'] };
    expect(await namesOf(userId)).toEqual(typed);
    await botCall('/api/bot/contacts', { phone: canonical, whatsappId: digits });
    const reported = { ...typed, whatsapp: [digits, 'contact'] };
    expect(await namesOf(userId)).toEqual(reported);
    const businessUserId = newBusinessUserId();
    await botCall('/api/bot/contacts', { phone: canonical, businessUserId });
    await externalSession(canonical);
    expect(await namesOf(userId)).toEqual({ ...reported, business: [businessUserId, 'contact'] });
    await deleteAccount(await externalSession(canonical));
    expect(await namesOf(userId)).toEqual({});
  });

  it('are one user for a new number that comes twenty times at once, by message and by token', async () => {
    const phone = newPhone();
    const results = await parallel(20, async () => {
      await botCall('/api/bot/contacts', { phone });
      return userOf(await externalSession(phone));
    });
    expect(new Set(results).size).toBe(1);
    const { rows } = await database.execute({ sql: 'select user_id from aliases where value = ?', args: [phone] });
    expect(rows.map((row) => row['user_id'])).toEqual([results[0]]);
  });

  it('never take a spelling from somebody else', async () => {
    const [one, other] = await Promise.all([newPerson(), newPerson()]);
    const args = [one.phone.slice(1), userOf(other.token)];
    await database.execute({ sql: 'update users set whatsapp_id = ? where id = ?', args });
    expect((await namesOf(userOf(one.token)))['whatsapp']).toEqual([one.phone.slice(1), 'typed']);
    await botCall('/api/bot/contacts', { phone: other.phone, whatsappId: other.phone.slice(1) });
    expect((await namesOf(userOf(other.token)))['whatsapp']).toEqual([other.phone.slice(1), 'contact']);
  });
});

/** What the version before writes, while both run. */
describe('beside the version before', () => {
  const oldIds = async (userId: string) => {
    const sql = 'select business_user_id as id, proof from identities where user_id = ?';
    return (await database.execute({ sql, args: [userId] })).rows.map(({ id, proof }) => [id, proof]);
  };

  it('its new user, and another number of one, are known', async () => {
    const [phone, next, userId] = [newPhone(), newPhone(), crypto.randomUUID()];
    await database.execute({
      sql: `insert into users (id, phone, whatsapp_id, status, created_at, contacted_at, week_anchor, week_start)
        values (?, ?, ?, 'approved', 1, 1, 0, 0)`,
      args: [userId, phone, phone.slice(1)],
    });
    expect(await namesOf(userId)).toEqual({ phone: [phone, 'contact'], whatsapp: [phone.slice(1), 'contact'] });
    expect(userOf(await externalSession(phone))).toBe(userId);
    await database.execute({
      sql: 'update users set phone = ?, whatsapp_id = ? where id = ?',
      args: [next, next.slice(1), userId],
    });
    expect(userOf(await externalSession(next))).toBe(userId);
    expect(userOf(await externalSession(phone))).not.toBe(userId);
    await database.execute({ sql: 'delete from users where id = ?', args: [userId] });
    expect(await namesOf(userId)).toEqual({});
  });

  it('each knows the ids that the other writes, changes and removes', async () => {
    const { token, businessUserId } = await newLinked();
    const userId = userOf(token);
    expect(await oldIds(userId)).toEqual([[businessUserId, 'contact']]);
    await database.execute({
      sql: "update identities set proof = 'earlier-number' where user_id = ?",
      args: [userId],
    });
    expect((await namesOf(userId))['business']).toEqual([businessUserId, 'earlier-number']);
    const next = newBusinessUserId();
    await database.execute({
      sql: 'update identities set business_user_id = ? where user_id = ?',
      args: [next, userId],
    });
    expect((await botCall('/api/bot/usage', { businessUserId: next })).body.used).toBe(1);
    expect((await botCall('/api/bot/usage', { businessUserId })).body.allowed).toBe(false);
    await database.execute({ sql: 'delete from identities where user_id = ?', args: [userId] });
    expect((await botCall('/api/bot/usage', { businessUserId: next })).body.allowed).toBe(false);
    await database.execute({
      sql: "insert into identities (business_user_id, user_id, proof, at) values (?, ?, 'contact', 1)",
      args: [next, userId],
    });
    expect((await botCall('/api/bot/usage', { businessUserId: next })).body.used).toBe(2);
    await deleteAccount(token);
    expect(await oldIds(userId)).toEqual([]);
  });
});
