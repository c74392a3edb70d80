import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { endpoints } from '../../worker/contract/endpoints.ts';
import { keyedHash } from '../../worker/lib/crypto.ts';
import { settingsOf } from '../../worker/settings.ts';
import { sessionToken } from '../../worker/sign-in/session-token.ts';
import { botCall, botHeaders, call, vars } from './support/api.ts';
import { newWriter, readChat, write } from './support/chat.ts';
import { database, userRowOf } from './support/database.ts';
import { newContact, newPerson, receiveCode, verifyOtp } from './support/person.ts';

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
