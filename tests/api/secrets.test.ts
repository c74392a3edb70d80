import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { endpoints } from '../../worker/contract/endpoints.ts';
import { keyedHash } from '../../worker/lib/crypto.ts';
import { settingsOf } from '../../worker/settings.ts';
import { sessionToken } from '../../worker/sign-in/session-token.ts';
import { botCall, botHeaders, call, vars, parallel, randomAddress } from './support/api.ts';
import { newWriter, readChat, write } from './support/chat.ts';
import { database, userRowOf } from './support/database.ts';
import { newContact, newPerson, receiveCode, verifyOtp, type Person, newPhone } from './support/person.ts';
import { deliveredEvents, newestCode, sandbox } from './support/sandbox.ts';

const settings = settingsOf(env)!;
const text = 'Something that nobody else may read';

/** A victim whose conversation holds the text. */
async function newVictim() {
  const victim = await newWriter();
  await write(victim.token, text);
  return victim;
}

/** A live code of a number, after a contact that clears its limits. */
async function freshCode(person: { phone: string; address: string }): Promise<string> {
  await botCall('/api/bot/contacts', { phone: person.phone });
  return receiveCode(person);
}

const run = (sql: string, ...args: (string | number)[]) => database.execute({ sql, args });
const canRead = async (token: string) => (await call('GET', '/api/user/chat', { token })).text.includes(text);

describe('BOT_WEBHOOK_SECRET alone', () => {
  const paths = Object.values(endpoints).flatMap(({ access, path }) => (access === 'bot' ? [path] : []));

  it.each(paths)('reads no message by %s', async (path) => {
    const { phone } = await newVictim();
    const id = crypto.randomUUID();
    const bodies = [{ phone }, { phone, id }, { phone, id, text: 'x' }, { phone, status: 'pending' }];
    const answers = await Promise.all(bodies.map((body) => botCall(path, body)));
    expect(answers.map((answer) => answer.text).join('\n')).not.toContain(text);
  });
});

describe('TURSO_AUTH_TOKEN alone', () => {
  it('signs nobody in by copying a code to another number', async () => {
    const [victim, thief] = [await newVictim(), await newContact()];
    await freshCode(victim);
    const otp = await freshCode(thief);
    const { rowsAffected } = await run(
      `update codes set mac = (select mac from codes where phone = ?), tries_left = 5 where phone = ?`,
      thief.phone,
      victim.phone,
    );
    expect(rowsAffected).toBe(1);
    expect((await verifyOtp(victim.phone, otp)).status).toBe(401);
    expect((await verifyOtp(thief.phone, otp)).status).toBe(200);
  });
});

describe('CHAT_KEYS alone', () => {
  it('signs no session and no call of the bot', async () => {
    const [victim, [chatKey]] = [await newVictim(), vars.CHAT_KEYS!.split(' ')];
    const { id } = await userRowOf(victim);
    const [session] = (await run('select id from sessions where user_id = ?', id as string)).rows;
    const claims = { userId: id as string, sessionId: session!.id as string };
    const [own] = vars.SESSION_KEYS!.split(' ');
    const name = own!.split(':')[0];
    const forged = `${name}:${chatKey!.split(':')[1]}`;
    const token = await sessionToken({ ...settings, SESSION_KEYS: forged }, claims, Date.now());
    expect((await call('GET', '/api/user/chat', { token })).status).toBe(401);
    const body = JSON.stringify({ phone: victim.phone });
    const headers = botHeaders(body, crypto.randomUUID(), new Date(), `whsec_${btoa(forged)}`);
    expect((await call('POST', '/api/bot/entitlements', { text: body, headers })).status).toBe(401);
  });
});

describe('BOT_WEBHOOK_SECRET and TURSO_AUTH_TOKEN', () => {
  it('take over the account of a number, and do not open its conversation', async () => {
    const [victim, thief] = [await newVictim(), await newContact()];
    await run('delete from users where phone = ?', thief.phone);
    await run('update users set phone = ?, whatsapp_id = null where phone = ?', thief.phone, victim.phone);
    await botCall('/api/bot/contacts', { phone: thief.phone });
    const { body } = await verifyOtp(thief.phone, await receiveCode(thief));
    expect((await call('GET', '/api/user/me', { token: body.token })).body.profile.phoneNumber).toBe(thief.phone);
    const answer = await call('GET', '/api/user/chat', { token: body.token });
    expect([answer.status, answer.text.includes(text)]).toEqual([503, false]);
  });
});

describe('what opens every conversation', () => {
  it('is TURSO_AUTH_TOKEN with CODE_PEPPER: it writes a code of its own', async () => {
    const victim = await newVictim();
    await freshCode(victim);
    const mac = await keyedHash(settings.CODE_PEPPER[0]!, 'code', victim.phone, '123456');
    await run('update codes set mac = ? where phone = ?', mac, victim.phone);
    const { body } = await verifyOtp(victim.phone, '123456');
    expect(await canRead(body.token)).toBe(true);
  });

  it('is TURSO_AUTH_TOKEN with SESSION_KEYS: it signs a session that is open', async () => {
    const [victim, stranger] = [await newVictim(), await newPerson()];
    const { id } = await userRowOf(victim);
    const [session] = (await run('select id from sessions where user_id = ?', id as string)).rows;
    const claims = { userId: id as string, sessionId: session!.id as string };
    expect(await canRead(await sessionToken(settings, claims, Date.now()))).toBe(true);
    expect(await canRead(stranger.token)).toBe(false);
    expect((await readChat(victim.token)).messages).toHaveLength(1);
  });
});

type Step = [name: string, before: string, after: string];

const fresh = `rotated:${'R'.repeat(43)}`;
/** The last key of the ring is left out, so that a ring holds two at most. */
const [old] = vars.CHAT_KEYS!.split(' ') as [string];
const steps: Step[] = [
  ['accept', old, `${old} ${fresh}`],
  ['promote', `${old} ${fresh}`, `${fresh} ${old}`],
];

const read = async ({ token }: Person, CHAT_KEYS: string) => {
  const { status, body } = await call('GET', '/api/user/chat', { token, settings: { CHAT_KEYS } });
  return status === 200 ? (body.messages as { text: string }[]).map(({ text }) => text) : status;
};

it.each(steps)('serves a conversation by both versions during the step: %s', async (_, before, after) => {
  const person = await newWriter();
  await write(person.token, 'One', undefined, { CHAT_KEYS: before });
  await write(person.token, 'Two', undefined, { CHAT_KEYS: after });
  await write(person.token, 'Three', undefined, { CHAT_KEYS: before });
  for (const keys of [before, after]) expect(await read(person, keys)).toEqual(['One', 'Two', 'Three']);
});

it('serves a conversation by both versions while the old key is removed, once nothing is wrapped by it', async () => {
  const person = await newWriter();
  const promoted = { CHAT_KEYS: `${fresh} ${old}` };
  await write(person.token, 'One', undefined, promoted);
  const { rows } = await database.execute({
    sql: 'select chat_key_id from users where phone = ?',
    args: [person.phone],
  });
  expect(rows[0]!.chat_key_id).toBe('rotated/2');
  await write(person.token, 'Two', undefined, { CHAT_KEYS: fresh });
  for (const keys of [promoted.CHAT_KEYS, fresh]) expect(await read(person, keys)).toEqual(['One', 'Two']);
});

it('closes conversations to the version before if a key is promoted that it does not accept', async () => {
  const person = await newWriter();
  await write(person.token, 'One', undefined, { CHAT_KEYS: `${fresh} ${old}` });
  expect(await read(person, old)).toBe(503);
  expect(await read(person, `${old} ${fresh}`)).toEqual(['One']);
});

it('knows the sessions of both versions, if the key was accepted before it was promoted', async () => {
  const [first] = vars.SESSION_KEYS!.split(' ') as [string];
  const contact = await newContact();
  const otp = await receiveCode(contact);
  const promoted = { SESSION_KEYS: `${fresh} ${first}` };
  const { body } = await call('POST', '/api/auth/verify-otp', {
    body: { phone: contact.phone, otp },
    address: contact.address,
    settings: promoted,
  });
  const status = async (SESSION_KEYS: string) =>
    (await call('GET', '/api/user/me', { token: body.token, settings: { SESSION_KEYS } })).status;
  expect(await status(`${first} ${fresh}`)).toBe(200);
  expect(await status(first)).toBe(401);
});

const pepper = vars.CODE_PEPPER!.split(' ')[0]!;
const freshPepper = 'P'.repeat(43);
const peppers: Step[] = [
  ['accept', pepper, `${pepper} ${freshPepper}`],
  ['promote', `${pepper} ${freshPepper}`, `${freshPepper} ${pepper}`],
];

it.each(peppers)('opens no limit while the pepper is rotated: %s', async (_, before, after) => {
  const verify = (CODE_PEPPER: string, body: object, address: string) =>
    call('POST', '/api/auth/verify-otp', { body, address, settings: { CODE_PEPPER } });
  const request = (CODE_PEPPER: string, phone: string, address = randomAddress()) =>
    call('POST', '/api/auth/request-otp', { body: { phone }, address, settings: { CODE_PEPPER } });

  const { phone } = await newContact();
  expect((await request(before, phone)).status).toBe(200);
  for (const CODE_PEPPER of [before, after]) expect((await request(CODE_PEPPER, phone)).status).toBe(429);
  await botCall('/api/bot/contacts', { phone }, undefined, { CODE_PEPPER: after });
  expect((await request(before, phone)).status).toBe(200);

  const address = randomAddress();
  const tries = (CODE_PEPPER: string) =>
    parallel(30, () => verify(CODE_PEPPER, { phone: newPhone(), otp: '123456' }, address));
  await tries(before);
  await tries(after);
  for (const CODE_PEPPER of [before, after])
    expect((await verify(CODE_PEPPER, { phone: newPhone(), otp: '123456' }, address)).status).toBe(429);
});

it.each(peppers)('accepts an external token once while the pepper is rotated: %s', async (_, before, after) => {
  const verify = async (token: string, CODE_PEPPER: string) =>
    (await call('POST', '/api/auth/verify-external-token', { body: { token }, settings: { CODE_PEPPER } })).status;
  for (const order of [
    [before, after, before],
    [after, before, after],
  ]) {
    const { token } = await sandbox.externalToken(newPhone());
    const statuses: number[] = [];
    for (const CODE_PEPPER of order) statuses.push(await verify(token, CODE_PEPPER));
    expect(statuses).toEqual([200, 401, 401]);
  }
});

it.each(peppers)('takes a code of either version while the pepper is rotated: %s', async (_, before, after) => {
  const versions = [
    [before, after],
    [after, before],
  ];
  for (const [sending, taking] of versions as [string, string][])
    for (const withChallenge of [true, false]) {
      const { phone, address } = await newContact();
      const settings = (CODE_PEPPER: string) => ({ address, settings: { CODE_PEPPER } });
      const { challenge } = (await call('POST', '/api/auth/request-otp', { body: { phone }, ...settings(sending) }))
        .body;
      const body = { phone, otp: await newestCode(phone), ...(withChallenge && { challenge }) };
      expect((await call('POST', '/api/auth/verify-otp', { body, ...settings(taking) })).status).toBe(200);
      expect((await call('POST', '/api/auth/verify-otp', { body, ...settings(sending) })).status).toBe(401);
    }
});

const botSecret = vars.BOT_WEBHOOK_SECRET!.split(' ')[0]!;
const freshBotSecret = `whsec_${btoa('a secret of thirty-two bytes, new')}`;
const botSecrets: Step[] = [
  ['accept', botSecret, `${botSecret} ${freshBotSecret}`],
  ['promote', `${botSecret} ${freshBotSecret}`, `${freshBotSecret} ${botSecret}`],
];

it.each(botSecrets)("signs events so that the bot's old secret opens them: %s", async (_, before, after) => {
  const { phone } = await newContact();
  for (const BOT_WEBHOOK_SECRET of [before, after])
    for (const status of ['pending', 'approved']) {
      const settings = { BOT_WEBHOOK_SECRET };
      expect((await botCall('/api/bot/approvals', { phone, status }, undefined, settings)).status).toBe(200);
    }
  expect((await deliveredEvents(phone)).map(({ type }) => type)).toEqual(['user.approved', 'user.approved']);
});
