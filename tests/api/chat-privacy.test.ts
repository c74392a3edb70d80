import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it, onTestFinished } from 'vitest';
import { consentVersion, consentVersions } from '../../worker/contract/chat-limits.ts';
import { fromBase64, seal, sha256, toBase64, unseal } from '../../worker/lib/crypto.ts';
import { botCall, call, parallel, runCron, tally, vars } from './support/api.ts';
import {
  clearChat,
  consent,
  newWriter,
  readChat,
  reply,
  textsOf,
  untilAccepted,
  write,
} from './support/chat.ts';
import { advanceClock, eventually, minute } from './support/clock.ts';
import { shortenPauses } from './support/pauses.ts';
import { newContact, newPhone } from './support/contacts.ts';
import {
  deleteAccount,
  exportOf,
  externalSession,
  newPerson,
  type Person,
  userOf,
} from './support/person.ts';
import { logLines, logTexts } from './support/requests.ts';
import { deliveredEvents, everyValue, run, sandbox, userRowOf } from './support/sandbox.ts';
import { liveUserOf, OpenChat, wholeObject } from './support/streams.ts';

const withdraw = (token: string) => call('DELETE', '/api/user/chat/consent', { token });
/** The status of reading the conversation. */
const statusOf = async ({ token }: Person, settings?: Record<string, string>) =>
  (
    await call('GET', '/api/user/chat', {
      token,
      ...(settings && { settings }),
    })
  ).status;
type KeyRow = { id: string; phone: string; chat_key: string };
/** The row of a writer, who has a key. */
const keyRowOf = async (person: Person) => (await userRowOf(person)) as unknown as KeyRow;

describe('the text of a message', () => {
  it('stands in no row of the database and in no line of the log', async () => {
    const { phone, token } = await newWriter();
    const stream = await OpenChat.open(token);
    const markers = ['marker-of-the-user-1', 'marker-of-the-user-2', 'marker-of-the-bot'] as const;
    await write(token, markers[0]);
    await untilAccepted(phone, 1);
    for (const _ of [1, 2]) await reply(phone, markers[2], 'reply-1', { crisis: true });
    await sandbox.faults({ bot: { status: 503 } });
    await write(token, markers[1]);
    await readChat(token);
    await stream.until(({ messages }) => messages.some(({ text }) => text === markers[1]));
    const [rows, stored] = [await everyValue(), await wholeObject(token)];
    const kept = rows.map(({ text }) => text).join('\n');
    expect(kept).toContain('chat.message');
    // WhatsApp's ids contain the number, so the object keeps a keyed hash of a reply's id.
    expect(stored).toContain('solace');
    expect(stored).not.toContain('reply-1');
    expect(stored).not.toContain('crisis');
    const lines = logTexts().join('\n');
    expect(lines).toContain('/api/user/chat/messages');
    for (const marker of markers) {
      for (const place of [kept, stored, lines]) expect(place).not.toContain(marker);
      expect(kept).not.toContain(btoa(marker));
    }
  });

  it('is unreadable with the key or the number of another user, and out of its place', async () => {
    const [person, other] = [await newWriter(), await newWriter()];
    await write(person.token, 'Mine');
    const [mine, theirs] = [
      await keyRowOf(person),
      { ...(await keyRowOf(other)), phone: newPhone() },
    ];
    for (const column of ['chat_key', 'phone'] as const) {
      const set = (row: KeyRow) =>
        run(`update users set ${column} = ? where id = ?`, row[column], mine.id);
      await set(theirs);
      expect(await statusOf(person), column).toBe(503);
      await set(mine);
      expect(await textsOf(person)).toEqual(['Mine']);
    }
    await run('update users set chat_key = ? where id = ?', 'no base64', mine.id);
    expect(await statusOf(person)).toBe(503);
    await run('update users set chat_key = ? where id = ?', mine.chat_key, mine.id);
    const change = "update messages set author = 'solace'";
    await runInDurableObject(
      liveUserOf(person.token),
      (_, { storage }) => void storage.sql.exec(change),
    );
    expect(await statusOf(person)).toBe(500);
  });
});

/** The key by which a secret of `CHAT_KEYS` wraps those of conversations. */
async function wrappingKey(secret: string): Promise<CryptoKey> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const base = await crypto.subtle.importKey('raw', bytes(secret), 'HKDF', false, ['deriveKey']);
  const derivation = {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(),
    info: bytes('solace/chat-kek/v1'),
  };
  return crypto.subtle.deriveKey(derivation, base, { name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ]);
}

describe('the keys', () => {
  const fresh = `newest:${'F'.repeat(43)}`;
  const [first, second] = vars.CHAT_KEYS!.split(' ') as [string, string];
  const [name, secret] = first.split(':') as [string, string];
  const keyIdOf = async (person: Person) => (await userRowOf(person)).chat_key_id;

  it('are wrapped again by the first of the ring on use', async () => {
    const [person, idle] = [await newWriter(), await newWriter()];
    for (const { token } of [person, idle]) await write(token, 'Hello');
    expect(await keyIdOf(person)).toBe(`${name}/2`);
    const settings = { CHAT_KEYS: `${fresh} ${first} ${second}` };
    shortenPauses();
    expect((await write(person.token, 'Again', undefined, settings)).status).toBe(200);
    expect(await keyIdOf(person)).toBe('newest/2');
    expect(await statusOf(person, { CHAT_KEYS: fresh })).toBe(200);
    expect(await statusOf(idle, { CHAT_KEYS: fresh })).toBe(503);
    expect((await write(idle.token, 'Again', undefined, { CHAT_KEYS: fresh })).status).toBe(503);
  });

  it('that were wrapped before they were bound are read, and bound on use and by the hourly job', async () => {
    const people = [await newWriter(), await newWriter()] as const;
    const key = await wrappingKey(secret);
    for (const person of people) {
      await write(person.token, 'Hello');
      const { id, chat_key: wrapped } = await keyRowOf(person);
      const bytes = await unseal(key, `dek|v2|${id}|${person.phone}`, fromBase64(wrapped));
      const unbound = toBase64(await seal(key, `dek|v1|${id}`, bytes));
      await run('update users set chat_key = ?, chat_key_id = ? where id = ?', unbound, name, id);
      expect(await textsOf(person)).toEqual(['Hello']);
    }
    await write(people[0].token, 'Again');
    await eventually(async () => expect(await keyIdOf(people[0])).toBe(`${name}/2`));
    await runCron('0 * * * *');
    expect(await keyIdOf(people[1])).toBe(`${name}/2`);
    for (const person of people) expect((await textsOf(person))[0]).toBe('Hello');
  });

  it('are wrapped again by the hourly job behind 500 keys that no secret opens, which it reports once', async () => {
    onTestFinished(async () => void (await run("delete from users where chat_key_id = '!'")));
    await run(`insert into users (id, phone, status, created_at, week_anchor, week_start, retention_due_at, chat_key, chat_key_id)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 500)
      select 'unusable-' || n, '+unusable' || n, 'approved', 0, 0, 0, 9e15, '', '!' from numbers`);
    const person = await newPerson();
    const settings = { CHAT_KEYS: `${second} ${first}` };
    await call('PUT', '/api/user/chat/consent', {
      token: person.token,
      body: { version: consentVersion },
      settings,
    });
    await runCron('0 * * * *');
    expect(await keyIdOf(person)).toBe(`${name}/2`);
    const reported = logLines('chat_key_unusable').map(({ conversations }) => conversations);
    expect(reported).toHaveLength(1);
    expect(reported[0]).toBeGreaterThanOrEqual(500);
  });

  it('are other ones after the conversation was cleared', async () => {
    const person = await newWriter();
    const before = (await userRowOf(person)).chat_key;
    await clearChat(person.token);
    const after = (await userRowOf(person)).chat_key;
    expect([before, null]).not.toContain(after);
    await withdraw(person.token);
    expect(await userRowOf(person)).toMatchObject({
      chat_key: null,
      chat_key_id: null,
      chat_consent_version: null,
    });
  });
});

it('keeps a fingerprint of a call of the bot that gives away no number, under a keyed hash of its id, and knows those before the last rotation', async () => {
  const [path, old, fresh] = ['/api/bot/usage', vars.CODE_PEPPER!, 'N'.repeat(43)];
  const { phone } = await newContact();
  const id = `wamid.${btoa(`HBgL${phone.slice(1)}FQIAERgS`)}`;
  const usedBy = async (CODE_PEPPER: string) =>
    (await botCall(path, { phone }, id, { CODE_PEPPER })).body.used;
  // Once, by whichever secret of the ring; only without the old one is it another call.
  expect([await usedBy(old), await usedBy(`${fresh} ${old}`), await usedBy(fresh)]).toEqual([
    1, 1, 2,
  ]);
  expect((await botCall(path, { phone, count: 2 }, id)).body.code).toBe('id_reused');

  const sql = "select id, fingerprint from bot_calls where facts ->> 'userId' = ?";
  const { rows } = await run(sql, (await userRowOf({ phone })).id as string);
  expect(rows).toHaveLength(2);
  const unkeyed = [await sha256(id), await sha256(`${path}\n${JSON.stringify({ phone })}`)];
  for (const value of rows.flatMap((row) => [row.id, row.fingerprint])) {
    expect(value).toMatch(/^[0-9a-f]{64}$/);
    expect(unkeyed).not.toContain(value);
  }
});

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);

describe('consent', () => {
  it('comes before the first message, is versioned, and removes the conversation when it is withdrawn', async () => {
    const { phone, token } = await newPerson();
    expect((await readChat(token)).consent).toBeNull();
    const message = 'Please accept the notice before you write.';
    const refused = {
      status: 403,
      body: { code: 'consent_needed', message },
    };
    expect(await write(token, 'Hello')).toMatchObject(refused);
    const given = await consent(token);
    expect(given.body).toEqual({
      success: true,
      consent: { version: consentVersion, at: expect.any(String) },
    });
    expect((await consent(token)).body).toEqual(given.body);
    expect((await readChat(token)).consent).toEqual(given.body.consent);
    expect((await write(token, 'Hello')).status).toBe(200);
    await untilAccepted(phone, 1);
    for (const _ of ['withdrawn', 'again'])
      expect(await withdraw(token)).toMatchObject({
        status: 200,
        body: { success: true, consent: null },
      });
    expect(await readChat(token)).toMatchObject({
      messages: [],
      consent: null,
    });
    expect(await write(token, 'Hello')).toMatchObject(refused);
    const told = (await deliveredEvents(phone)).map(({ type, data }) => data.version ?? type);
    expect(told).toEqual([consentVersion, 'chat.message', 'chat.cleared', 'chat.consent']);
  });

  it('is withdrawn, and the conversation cleared, by somebody whose account waits for approval', async () => {
    for (const path of ['/api/user/chat', '/api/user/chat/consent']) {
      const { phone, token } = await newWriter();
      await write(token, 'Hello');
      await botCall('/api/bot/approvals', { phone, status: 'pending' });
      expect((await call('DELETE', path, { token })).body).toMatchObject({ success: true });
      expect((await consent(token)).body.code).toBe('pending_approval');
      await botCall('/api/bot/approvals', { phone, status: 'approved' });
      const { messages, consent: left } = await readChat(token);
      expect(messages).toEqual([]);
      expect(left === null).toBe(path.endsWith('consent'));
    }
  });

  it('is of a published version alone, which the description of the calls lists', async () => {
    const { token } = await newPerson();
    const message = `version must be a published one: ${consentVersions.join(', ')}`;
    const issues = [{ path: 'version', message }];
    const refused = {
      status: 400,
      body: { code: 'invalid_field', issues },
    };
    for (const version of [
      '2026-11',
      `${consentVersion} `,
      '',
      'x'.repeat(33),
      'two words',
      'bell\u0007',
      'clear\u001b[2J',
      'line\n',
      'ü',
      '\u202e1v',
    ])
      expect(await consent(token, version), JSON.stringify(version)).toMatchObject(refused);

    const { paths } = (await call('GET', '/api/openapi.json')).body;
    const { content } = paths['/api/user/chat/consent'].put.requestBody;
    const { version } = content['application/json'].schema.properties;
    expect(version.enum).toEqual([...consentVersions]);
    expect(consentVersions.at(-1)).toBe(consentVersion);
    for (const each of consentVersions) expect(each).toMatch(/^[\x21-\x7e]{1,32}$/);
  });

  it('leaves its times, given and withdrawn, in the export until the account goes', async () => {
    const { token } = await newPerson();
    for (const _ of ['first', 'second']) {
      await consent(token);
      await withdraw(token);
      advanceClock(minute);
    }
    await consent(token);
    await clearChat(token);
    const { consents } = (await exportOf(token)).body;
    const ended = {
      version: consentVersion,
      givenAt: instant,
      withdrawnAt: instant,
    };
    expect(consents).toEqual([ended, ended, { ...ended, withdrawnAt: null }]);
    const times = consents.flatMap(({ givenAt, withdrawnAt }: Record<string, string>) => [
      givenAt,
      withdrawnAt,
    ]);
    const known = times.filter((time: string | null) => time !== null);
    expect(known).toEqual(known.toSorted());

    const kept = () => run('select 1 from consents where user_id = ?', userOf(token));
    expect((await kept()).rows).toHaveLength(3);
    await deleteAccount(token);
    expect((await kept()).rows).toEqual([]);
  });

  it('is given at most 20 times in a day, also at once, and always withdrawn', async () => {
    const { token } = await newPerson();
    for (let count = 0; count < 19; count += 1) {
      expect((await consent(token)).status).toBe(200);
      await withdraw(token);
    }
    const given = await parallel(5, () => consent(token));
    expect(tally(given)).toEqual({ 200: 5 });
    expect((await withdraw(token)).status).toBe(200);
    const { status, body, headers } = await consent(token);
    expect([status, body.code]).toEqual([429, 'rate_limited']);
    expect((await withdraw(token)).status).toBe(200);
    advanceClock(1000 * Number(headers.get('retry-after')));
    expect((await consent(token)).status).toBe(200);
  });

  it('is the first contact of a user with an external token', async () => {
    const phone = newPhone();
    const token = await externalSession(phone);
    expect((await botCall('/api/bot/usage', { phone })).body.allowed).toBe(false);
    await consent(token);
    expect((await write(token, 'Hello')).status).toBe(200);
    expect((await botCall('/api/bot/usage', { phone })).body).toMatchObject({
      allowed: true,
      used: 1,
    });
  });
});
