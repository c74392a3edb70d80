import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import { botCall, call, runCron, vars } from './support/api.ts';
import { env } from 'cloudflare:workers';
import type { PhoneNumber } from '../../worker/accounts/phone.ts';
import { rebindChatKey } from '../../worker/chat/chat-encryption.ts';
import { fromBase64, seal, sha256, toBase64, unseal } from '../../worker/lib/crypto.ts';
import { settingsOf } from '../../worker/settings.ts';
import { acceptedBy, consent, newWriter, readChat, reply, untilReplied, write } from './support/chat.ts';
import { database, everyValue, userRowOf } from './support/database.ts';
import { externalSession, newPerson, newPhone } from './support/person.ts';
import { eventsAbout, sandbox } from './support/sandbox.ts';
import { liveUserOf, OpenChat, wholeObject } from './support/streams.ts';
import { eventually } from './support/clock.ts';

describe('the text of a message', () => {
  it('stands in no row of the database and in no line of the log', async () => {
    const lines: string[] = [];
    for (const level of ['log', 'error'] as const)
      vi.spyOn(console, level).mockImplementation((line) => lines.push(line));
    const person = await newWriter();
    const { phone, token } = person;
    const stream = await OpenChat.open(token);
    const markers = ['marker-of-the-user-1', 'marker-of-the-user-2', 'marker-of-the-bot'] as const;
    await write(token, markers[0]);
    await eventually(async () => expect(await acceptedBy(phone)).toHaveLength(1));
    await reply(phone, markers[2], 'reply-1', { crisis: true });
    await reply(phone, markers[2], 'reply-1', { crisis: true });
    await sandbox.faults({ bot: { status: 503 } });
    await write(token, markers[1]);
    await readChat(token);
    await stream.until(({ messages }) => messages.some(({ text }) => text === markers[1]));
    const [rows, stored] = [await everyValue(), await wholeObject(token)];
    const kept = rows.map(({ text }) => text).join('\n');
    expect(kept).toContain('chat.message');
    await sandbox.faults({ bot: null });
    for (const marker of markers) {
      expect(kept).not.toContain(marker);
      expect(kept).not.toContain(btoa(marker));
      expect(stored).not.toContain(marker);
      expect(lines.join('\n')).not.toContain(marker);
    }
    expect(stored).toContain('reply-1');
    expect(stored).not.toContain('crisis');
    expect(lines.length).toBeGreaterThan(5);
    vi.restoreAllMocks();
    stream.close();
  });

  it('leaves no sign of a crisis in the database, in the row of the reply neither', async () => {
    const [calm, crisis] = [await newWriter(), await newWriter()];
    const { phone, token } = crisis;
    await write(token, 'Hello');
    await reply(calm.phone, 'Hello', 'calm-1', { crisis: false });
    await reply(phone, 'Please call somebody.', 'crisis-1', { crisis: true });
    const changed = async (person: typeof calm) =>
      Object.entries(await userRowOf(person)).filter(([, value]) => value !== null);
    const columns = (rows: [string, unknown][]) => rows.map(([name]) => name);
    expect(columns(await changed(crisis))).toEqual(columns(await changed(calm)));
    const { rows } = await database.execute('select fingerprint from bot_calls');
    const fields = (marked?: boolean) => ({
      path: 'messages',
      phone,
      id: 'crisis-1',
      replyTo: undefined,
      crisis: marked,
    });
    const guesses = [true, false, undefined].map((marked) => sha256(JSON.stringify(fields(marked))));
    for (const guess of await Promise.all(guesses))
      expect(rows.map(({ fingerprint }) => fingerprint)).not.toContain(guess);
  });

  it('is unreadable without its key, with the key of another user, and out of its place', async () => {
    const [person, other] = [await newWriter(), await newWriter()];
    await write(person.token, 'Mine');
    await write(other.token, 'Theirs');
    const setKey = (id: string, key: string) =>
      database.execute({ sql: 'update users set chat_key = ? where phone = ?', args: [key, id] });
    const [mine, theirs] = [await userRowOf(person), await userRowOf(other)];
    await setKey(person.phone, theirs.chat_key as string);
    expect((await call('GET', '/api/user/chat', { token: person.token })).status).toBe(503);
    await setKey(person.phone, mine.chat_key as string);
    expect((await readChat(person.token)).messages[0]!.text).toBe('Mine');
    await runInDurableObject(liveUserOf(person.token), (_, { storage }) => {
      storage.sql.exec("update messages set author = 'solace'");
    });
    expect((await call('GET', '/api/user/chat', { token: person.token })).status).toBe(500);
  });
});

/** The key by which a secret of `CHAT_KEYS` wraps those of conversations. */
async function wrappingKey(secret: string): Promise<CryptoKey> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const base = await crypto.subtle.importKey('raw', bytes(secret), 'HKDF', false, ['deriveKey']);
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: bytes('solace/chat-kek/v1') };
  return crypto.subtle.deriveKey(derivation, base, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
}

describe('the keys', () => {
  const fresh = 'F'.repeat(43);
  const [first, second] = vars.CHAT_KEYS!.split(' ') as [string, string];

  it('are wrapped again by the first of the ring, on use and by the hourly job', async () => {
    const [person, idle] = [await newWriter(), await newWriter()];
    for (const { token } of [person, idle]) await write(token, 'Hello');
    expect((await userRowOf(person)).chat_key_id).toBe(`${first.split(':')[0]}/2`);
    const rotated = { CHAT_KEYS: `newest:${fresh} ${first} ${second}` };
    expect((await write(person.token, 'Again', undefined, rotated)).status).toBe(200);
    expect((await userRowOf(person)).chat_key_id).toBe('newest/2');
    const { body } = await call('GET', '/api/user/chat', {
      token: person.token,
      settings: { CHAT_KEYS: `newest:${fresh}` },
    });
    expect(body.messages[0].text).toBe('Hello');

    const retired = `${second.split(':')[0]}/2`;
    const backwards = { CHAT_KEYS: `${second} ${first} newest:${fresh}` };
    await call('PUT', '/api/user/chat/consent', {
      token: (await newPerson()).token,
      body: { version: 'x' },
      settings: backwards,
    });
    await runCron('0 * * * *');
    const { rows } = await database.execute({ sql: 'select 1 from users where chat_key_id = ?', args: [retired] });
    expect(rows).toEqual([]);
  });

  it('are bound to the number: two people with exchanged numbers, or rows, read nothing', async () => {
    const [one, other] = [await newWriter(), await newWriter()];
    for (const { token } of [one, other]) await write(token, 'Mine alone');
    const rows = await Promise.all([one, other].map((person) => userRowOf(person)));
    const setPhones = async (...phones: string[]) => {
      await database.batch(
        [
          ['+0', rows[0]!.id],
          [phones[1]!, rows[1]!.id],
          [phones[0]!, rows[0]!.id],
        ].map((args) => ({
          sql: 'update users set phone = ? where id = ?',
          args: args as string[],
        })),
        'write',
      );
    };
    const statusOf = async ({ token }: typeof one) => (await call('GET', '/api/user/chat', { token })).status;
    await setPhones(other.phone, one.phone);
    expect([await statusOf(one), await statusOf(other)]).toEqual([503, 503]);
    await setPhones(one.phone, other.phone);
    expect([await statusOf(one), await statusOf(other)]).toEqual([200, 200]);

    const [row] = rows as unknown as Record<string, never>[];
    const chatRow = {
      id: row!.id!,
      phone: row!.phone!,
      chatKey: row!.chat_key!,
      chatKeyId: row!.chat_key_id!,
      chatEpoch: 0,
    };
    const next = newPhone() as PhoneNumber;
    const bound = (await rebindChatKey(settingsOf(env)!, chatRow, next))!;
    const args = [next, bound.chatKey, bound.chatKeyId, chatRow.id];
    await database.execute({ sql: 'update users set phone = ?, chat_key = ?, chat_key_id = ? where id = ?', args });
    expect((await readChat(one.token)).messages[0]!.text).toBe('Mine alone');
  });

  it('that were wrapped before they were bound are read, and bound on use and by the hourly job', async () => {
    const people = [await newWriter(), await newWriter()] as const;
    const [name, secret] = first.split(':') as [string, string];
    for (const person of people) {
      await write(person.token, 'Hello');
      const { id, chat_key: wrapped } = (await userRowOf(person)) as Record<string, string>;
      const key = await wrappingKey(secret);
      const bytes = await unseal(key, `dek|v2|${id}|${person.phone}`, fromBase64(wrapped!).buffer);
      const args = [toBase64(await seal(key, `dek|v1|${id}`, bytes)), name, id!];
      await database.execute({ sql: 'update users set chat_key = ?, chat_key_id = ? where id = ?', args });
      expect((await readChat(person.token)).messages[0]!.text).toBe('Hello');
    }
    await write(people[0].token, 'Again');
    await eventually(async () => expect((await userRowOf(people[0])).chat_key_id).toBe(`${name}/2`));
    await runCron('0 * * * *');
    expect((await userRowOf(people[1])).chat_key_id).toBe(`${name}/2`);
    for (const { token } of people) expect((await readChat(token)).messages[0]!.text).toBe('Hello');
  });

  it('make the conversation unavailable when the one that wraps it is missing', async () => {
    const { token } = await newWriter();
    await write(token, 'Hello');
    const settings = { CHAT_KEYS: `newest:${fresh}` };
    expect((await call('GET', '/api/user/chat', { token, settings })).status).toBe(503);
    expect((await write(token, 'Hello again', undefined, settings)).status).toBe(503);
    expect((await readChat(token)).messages).toHaveLength(1);
  });

  it('are other ones after the conversation was cleared', async () => {
    const person = await newWriter();
    const before = (await userRowOf(person)).chat_key;
    await call('DELETE', '/api/user/chat', { token: person.token });
    const after = await userRowOf(person);
    expect(after.chat_key).not.toBe(before);
    expect(after.chat_key).not.toBeNull();
    await call('DELETE', '/api/user/chat/consent', { token: person.token });
    expect(await userRowOf(person)).toMatchObject({ chat_key: null, chat_key_id: null, chat_consent_version: null });
  });
});

describe('the fingerprint of a call of the bot', () => {
  const [path, fresh] = ['/api/bot/entitlements', 'N'.repeat(43)];
  const unkeyedOf = (body: object) => sha256(`${path}\n${JSON.stringify(body)}`);

  it('does not give away the number to somebody who tries all of them', async () => {
    const [body, id] = [{ phone: newPhone() }, crypto.randomUUID()];
    expect((await botCall(path, body, id)).status).toBe(200);
    const { rows } = await database.execute({ sql: 'select fingerprint from bot_calls where id = ?', args: [id] });
    expect(rows[0]!.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(rows[0]!.fingerprint).not.toBe(await unkeyedOf(body));
  });

  it('is known after its key was rotated, and from before it was keyed', async () => {
    const [body, id] = [{ phone: newPhone() }, crypto.randomUUID()];
    const again = async (CODE_PEPPER: string) => (await botCall(path, body, id, { CODE_PEPPER })).status;
    expect(await again(vars.CODE_PEPPER!)).toBe(200);
    expect(await again(`${fresh} ${vars.CODE_PEPPER}`)).toBe(200);
    expect(await again(fresh)).toBe(409);
    const args = [await unkeyedOf(body), id];
    await database.execute({ sql: 'update bot_calls set fingerprint = ? where id = ?', args });
    expect(await again(vars.CODE_PEPPER!)).toBe(200);
  });
});

it("keeps each user's conversation apart", async () => {
  const [one, other] = [await newWriter(), await newWriter()];
  const { message } = (await write(one.token, 'Mine')).body;
  expect((await write(other.token, 'Theirs', message.id)).body.message).toMatchObject({ seq: 1, text: 'Theirs' });
  expect((await readChat(other.token)).messages.map(({ text }) => text)).toEqual(['Theirs']);
  expect((await readChat(one.token)).messages.map(({ text }) => text)).toEqual(['Mine']);
  await consent(one.token, 'newer');
  await botCall('/api/bot/messages', { phone: one.phone, id: 'reply-1', text: 'For one' });
  expect((await readChat(other.token)).messages).toHaveLength(1);
});

describe('consent', () => {
  it('comes before the first message, is versioned, and is reported to the bot', async () => {
    const { phone, token } = await newPerson();
    expect((await readChat(token)).consent).toBeNull();
    const refused = await write(token, 'Hello');
    expect({ status: refused.status, body: refused.body }).toEqual({
      status: 403,
      body: { success: false, code: 'consent_needed', message: 'Please accept the notice before you write.' },
    });
    const given = await consent(token, 'v1');
    expect(given.body).toEqual({ success: true, consent: { version: 'v1', at: expect.any(String) } });
    expect((await consent(token, 'v1')).body).toEqual(given.body);
    expect((await readChat(token)).consent).toEqual(given.body.consent);
    expect((await write(token, 'Hello')).status).toBe(200);
    await eventually(async () =>
      expect((await eventsAbout(phone, 'chat.consent')).map(({ data }) => data.version)).toEqual(['v1']),
    );
  });

  it('is withdrawn, and the conversation cleared, by somebody whose account waits for approval', async () => {
    for (const path of ['/api/user/chat', '/api/user/chat/consent']) {
      const { phone, token } = await newWriter();
      await write(token, 'Hello');
      await botCall('/api/bot/approvals', { phone, status: 'pending' });
      expect((await call('DELETE', path, { token })).body).toMatchObject({ success: true });
      expect((await consent(token, 'later')).body.code).toBe('pending_approval');
      await botCall('/api/bot/approvals', { phone, status: 'approved' });
      const { messages, consent: left } = await readChat(token);
      expect(messages).toEqual([]);
      expect(left === null).toBe(path.endsWith('consent'));
    }
  });

  it.each(['', 'x'.repeat(33), 'two words', 'bell\u0007', 'clear\u001b[2J', 'line\n', 'ü', '\u202e1v'])(
    'has a version of visible ASCII alone: %j is refused',
    async (version) => {
      const { token } = await newPerson();
      expect(await consent(token, version)).toMatchObject({
        status: 400,
        body: { code: 'invalid_field', issues: [{ path: 'version' }] },
      });
    },
  );

  it('is the first contact of a user with an external token', async () => {
    const phone = newPhone();
    const token = await externalSession(phone);
    expect((await botCall('/api/bot/usage', { phone })).body.allowed).toBe(false);
    await consent(token);
    expect((await write(token, 'Hello')).status).toBe(200);
    expect((await botCall('/api/bot/usage', { phone })).body).toMatchObject({ allowed: true, used: 1 });
  });

  it('removes the conversation when it is withdrawn', async () => {
    const person = await newWriter();
    const { phone, token } = person;
    await write(token, 'Hello');
    await untilReplied(person, 1);
    const { status, body } = await call('DELETE', '/api/user/chat/consent', { token });
    expect({ status, body }).toEqual({ status: 200, body: { success: true, consent: null } });
    expect(await readChat(token)).toMatchObject({ messages: [], consent: null });
    expect((await write(token, 'Hello')).body.code).toBe('consent_needed');
    await eventually(async () =>
      expect((await eventsAbout(phone, 'chat.consent')).map(({ data }) => data.version)).toEqual(['2026-11', null]),
    );
    expect(await eventsAbout(phone, 'chat.cleared')).toHaveLength(1);
    expect((await call('DELETE', '/api/user/chat/consent', { token })).body).toEqual({ success: true, consent: null });
  });
});
