import { describe, expect, it } from 'vitest';
import { keyedHashes } from '../../worker/lib/crypto.ts';
import { botCall, call, parallel, randomAddress, runCron, vars, send } from './support/api.ts';
import { advanceClock, day, second } from './support/clock.ts';
import { database } from './support/database.ts';
import { externalSession, newContact, newPerson, newPhone, receiveCode } from './support/person.ts';
import { deliveredEvents, outboxOf, sandbox } from './support/sandbox.ts';
import { OpenStream } from './support/streams.ts';
import { supportToken } from '../../worker/sign-in/session-token.ts';
import { newSubscriber } from './support/buying.ts';
import { newWriter, reply, write } from './support/chat.ts';

const manual = { APPROVAL: 'manual' };
const approve = (phone: string, status: string, id?: string) => botCall('/api/bot/approvals', { phone, status }, id);
const choose = (token: string, platform: string) => call('PUT', '/api/user/platform', { token, body: { platform } });
const platformOf = async (token: string) => (await call('GET', '/api/user/platform', { token })).body.platform;

describe('approval', () => {
  it('makes new users wait when it is manual, until the bot approves them', async () => {
    const phone = newPhone();
    await botCall('/api/bot/contacts', { phone }, undefined, manual);
    const contact = { phone, address: randomAddress() };
    const otp = await receiveCode(contact);
    const { body } = await call('POST', '/api/auth/verify-otp', { body: { phone, otp } });
    expect(body).toMatchObject({ success: true, status: 'pending' });
    const { token } = body;
    expect((await call('GET', '/api/user/me', { token })).body.profile.status).toBe('pending');
    expect((await call('GET', '/api/user/platform', { token })).status).toBe(403);
    expect((await botCall('/api/bot/usage', { phone })).body).toMatchObject({ allowed: false, used: 0 });

    expect((await approve(phone, 'approved')).body).toEqual({ success: true, status: 'approved' });
    expect((await call('GET', '/api/user/platform', { token })).status).toBe(200);
    expect((await botCall('/api/bot/usage', { phone })).body).toMatchObject({ allowed: true, used: 1 });
    expect(await deliveredEvents(phone)).toMatchObject([
      { type: 'user.approved', timestamp: expect.any(String), data: { phone } },
    ]);
  });

  it('is reported once for fifty parallel approvals, and ends open streams when it is withdrawn', async () => {
    const { phone, token } = await newPerson();
    const stream = await OpenStream.open(token);
    await stream.until(({ counts }) => counts.length === 1);
    await approve(phone, 'pending');
    await stream.until(({ ended }) => ended);
    await parallel(50, () => approve(phone, 'approved'));
    expect((await deliveredEvents(phone)).map(({ type }) => type)).toEqual(['user.approved']);
    expect((await approve(newPhone(), 'approved')).status).toBe(404);
  });
});

describe('the platform', () => {
  it('is WhatsApp until the user chooses the web, and the bot receives each change', async () => {
    const { phone, token } = await newPerson();
    expect((await call('GET', '/api/user/platform', { token })).body).toEqual({ success: true, platform: 'whatsapp' });
    for (const platform of ['whatsapp', 'web', 'web', 'whatsapp']) {
      expect((await choose(token, platform)).body).toEqual({ success: true, platform });
    }
    expect(await choose(token, 'pigeon')).toMatchObject({ status: 400, body: { message: 'Choose whatsapp or web' } });
    const events = await deliveredEvents(phone);
    expect(events.map(({ type, data }) => [type, data.platform])).toEqual([
      ['platform.changed', 'web'],
      ['platform.changed', 'whatsapp'],
    ]);
  });
});

describe('a platform choice that arrives late', () => {
  it('does not overwrite a newer one, and the bot does not receive it', async () => {
    const { phone, token } = await newPerson();
    await choose(token, 'web');
    await choose(token, 'whatsapp');
    const events = await deliveredEvents(phone);
    advanceClock(-second);
    expect((await choose(token, 'web')).body).toEqual({ success: true, platform: 'whatsapp' });
    expect(await platformOf(token)).toBe('whatsapp');
    expect(await outboxOf(phone)).toEqual([]);
    expect(await deliveredEvents(phone)).toEqual(events);
  });

  it('leaves the newest choice standing for fifty parallel callers', async () => {
    const { phone, token } = await newPerson();
    await parallel(50, (index) => choose(token, index % 2 ? 'web' : 'whatsapp'));
    advanceClock(second);
    await choose(token, 'web');
    expect(await platformOf(token)).toBe('web');
    expect((await deliveredEvents(phone)).at(-1)!.data.platform).toBe('web');
  });
});

describe('deletion', () => {
  it('erases the account, its sessions and streams, and notifies the bot', async () => {
    const { phone, token } = await newPerson();
    await botCall('/api/bot/usage', { phone, count: 3 });
    const ticket = (await call('POST', '/api/user/stream-ticket', { token })).body.ticket;
    const stream = await OpenStream.open(ticket);
    await stream.until(({ counts }) => counts.length === 1);
    expect((await call('DELETE', '/api/user/me', { token })).body).toEqual({ success: true });
    await stream.until(({ ended }) => ended);
    expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
    expect((await call('GET', `/api/user/usage-stream?token=${ticket}`)).status).toBe(401);
    expect((await call('DELETE', '/api/user/me', { token })).status).toBe(401);
    expect((await botCall('/api/bot/usage', { phone })).body).toMatchObject({ allowed: false });
    const code = await call('POST', '/api/auth/request-otp', { body: { phone } });
    expect(code.body).toMatchObject({ requiresInitialContact: true });
    expect((await deliveredEvents(phone)).map(({ type }) => type)).toEqual(['user.deleted']);
  });

  it('lets the number sign up again at once, with nothing of the old account but the count of its week', async () => {
    const { phone, token } = await newPerson();
    await botCall('/api/bot/usage', { phone, count: 5 });
    await choose(token, 'web');
    await call('DELETE', '/api/user/me', { token });
    const contact = await newContact(phone);
    const otp = await receiveCode(contact);
    const { body } = await call('POST', '/api/auth/verify-otp', { body: { phone, otp } });
    const me = await call('GET', '/api/user/me', { token: body.token });
    expect(me.body.profile.messagesUsedThisPeriod).toBe(5);
    expect(await platformOf(body.token)).toBe('whatsapp');
  });

  it('works for somebody who is pending, and once for fifty parallel callers', async () => {
    const { phone, token } = await newPerson();
    await approve(phone, 'pending');
    const answers = await parallel(50, () => call('DELETE', '/api/user/me', { token }));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array.from({ length: 49 }, () => 401)]);
    expect((await deliveredEvents(phone)).map(({ type }) => type)).toEqual(['user.deleted']);
  });
});

describe('whoever deletes the account and returns', () => {
  const use = (phone: string, count: number) => botCall('/api/bot/usage', { phone, count });
  const leave = async (phone: string) => {
    const token = await externalSession(phone);
    expect((await call('DELETE', '/api/user/me', { token })).body).toEqual({ success: true });
  };

  it('finds the count that they left in the same free week, however often, and a new one after it', async () => {
    const { phone } = await newContact();
    const { body } = await use(phone, 3);
    const resetsAt = body.resetsAt;
    for (const used of [4, 5]) {
      await leave(phone);
      await newContact(phone);
      expect((await use(phone, 1)).body).toMatchObject({ allowed: true, used, resetsAt });
    }
    for (let time = 0; time < 3; time += 1) {
      await leave(phone);
      // Somebody who signs in before they write finds it as well.
      if (time === 1) await externalSession(phone);
      await newContact(phone);
      expect((await use(phone, 1)).body).toMatchObject({ allowed: false, used: 5, remaining: 0, resetsAt });
    }
    advanceClock(7 * day);
    expect((await use(phone, 1)).body).toMatchObject({ allowed: true, used: 1 });
  });

  it('leaves nothing of it behind once the week has ended, and nothing without a count', async () => {
    const rows = async (phone: string) => {
      const [mac] = await keyedHashes(vars.CODE_PEPPER!.split(/[\s,]+/), 'left-week', phone);
      return (await database.execute({ sql: 'select used from left_weeks where phone_mac = ?', args: [mac!] })).rows;
    };
    const [silent, spent] = [(await newContact()).phone, (await newContact()).phone];
    await use(spent, 2);
    for (const phone of [silent, spent]) await leave(phone);
    expect([await rows(silent), await rows(spent)]).toEqual([[], [expect.objectContaining({ used: 2 })]]);
    advanceClock(7 * day + second);
    await runCron();
    expect(await rows(spent)).toEqual([]);
    await newContact(spent);
    expect((await use(spent, 5)).body).toMatchObject({ allowed: true, used: 5 });
  });
});

const path = '/api/user/export';
const exportOf = (token: string) => call('GET', path, { token });

describe('the export of a user', () => {
  it('is a JSON attachment with everything that is kept, here and at Stripe', async () => {
    const { phone, address, token } = await newSubscriber('basic');
    await botCall('/api/bot/usage', { phone });
    await botCall('/api/bot/contacts', { phone });
    await receiveCode({ phone, address });
    const trial = await botCall('/api/bot/trials', { phone, tier: 'premium' });
    const trialToken = new URL(trial.body.url).searchParams.get('token');
    await call('POST', '/auth/verify-trial-token', { body: { trialToken } });
    await externalSession(phone);
    const { status, headers, body } = await exportOf(token);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="solace-data-\d{4}-\d\d-\d\d\.json"$/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body.account).toMatchObject({ phone, tier: 'basic', trialTier: 'premium', used: 1 });
    expect(body.account.createdAt).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(body.sessions).toHaveLength(3);
    for (const list of ['code', 'limits', 'trialLinks', 'usedTrials', 'notes']) expect(body[list]).not.toHaveLength(0);
    expect(body.stripe.subscriptions).toMatchObject([{ status: 'active', plans: ['basic_weekly'] }]);
    expect(body.stripe.invoices).toHaveLength(1);
    expect(body.stripe.paymentMethods).toMatchObject([{ card: { last4: expect.stringMatching(/^\d{4}$/) } }]);
  });

  it('holds the whole conversation, and not its key', async () => {
    const { phone, token } = await newWriter();
    await write(token, 'Something personal');
    for (let index = 0; index < 60; index += 1) await reply(phone, `Reply ${index}`);
    const { body } = await exportOf(token);
    expect(body.conversation[0]).toMatchObject({ seq: 1, author: 'user', text: 'Something personal' });
    const texts = body.conversation.map(({ text }: { text: string }) => text);
    expect(texts).toEqual(expect.arrayContaining(['Reply 0', 'Reply 59']));
    const seqs = body.conversation.map(({ seq }: { seq: number }) => seq);
    expect(seqs).toEqual(seqs.map((_: number, index: number) => index + 1));
    const { rows } = await database.execute({ sql: 'select chat_key from users where phone = ?', args: [phone] });
    const wrapped = rows[0]!['chat_key'];
    expect(wrapped).toEqual(expect.any(String));
    expect(JSON.stringify(body)).not.toContain(wrapped);
    expect(body.account).not.toHaveProperty('chatKey');
  });

  it('holds no secret and no hash', async () => {
    const { phone, address, token } = await newSubscriber('premium');
    await botCall('/api/bot/contacts', { phone });
    await receiveCode({ phone, address });
    const { text } = await exportOf(token);
    const args = [phone];
    const sql = 'select id, challenges.mac, sent_by from challenges join codes using (phone, sent_by) where phone = ?';
    const { rows } = await database.execute({ sql, args });
    const userId = 'select user_id from customers where user_id = (select id from users where phone = ?)';
    const ids = await database.execute({ sql: `select id from sessions where user_id = (${userId})`, args });
    for (const hidden of [token, rows[0]!.id, rows[0]!.mac, rows[0]!.sent_by, ids.rows[0]!.id]) {
      expect(text).not.toContain(hidden as string);
    }
    expect(text).not.toMatch(/"[^"]*(secret|mac|hash|token)[^"]*":|https?:/i);
  });

  it('names nobody else', async () => {
    const [one, other] = [await newPerson(), await newPerson()];
    expect((await exportOf(one.token)).text).not.toContain(other.phone.slice(1));
  });

  it('is open to a pending user and to somebody who never paid', async () => {
    const { phone, token } = await newPerson();
    await botCall('/api/bot/approvals', { phone, status: 'pending' });
    const { status, body } = await exportOf(token);
    expect(status).toBe(200);
    expect(body).toMatchObject({ account: { phone, status: 'pending' }, stripe: null });
  });

  it('is 503, not half an export, while Stripe does not respond', async () => {
    const { token } = await newSubscriber('basic');
    await sandbox.faults({ stripe: { status: 500 } });
    expect(await exportOf(token)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  });

  it('is made five times an hour, by fifty parallel callers too', async () => {
    const { token } = await newPerson();
    const statuses = (await parallel(50, () => exportOf(token))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(45);
  });

  it('takes no token from the address', async () => {
    const { token } = await newPerson();
    expect((await send(`${path}?token=${token}`)).status).toBe(401);
  });
});

describe('the support command', () => {
  const supportPath = '/api/support/account';

  it('gets no account with the token of a session, a stream, or another key', async () => {
    const { token } = await newPerson();
    const { ticket } = (await call('POST', '/api/user/stream-ticket', { token })).body;
    const foreign = await supportToken({ SESSION_KEYS: `new:${'A'.repeat(43)}` }, 'somebody');
    for (const bad of [undefined, token, ticket, foreign]) {
      expect((await call('GET', supportPath, { token: bad })).status).toBe(401);
      expect((await call('DELETE', supportPath, { token: bad })).status).toBe(401);
    }
    expect((await exportOf(token)).status).toBe(200);
  });

  it('exports and deletes the account that its token names, and opens no session', async () => {
    const { token } = await newPerson();
    const own = (await exportOf(token)).body;
    const support = await supportToken({ SESSION_KEYS: vars.SESSION_KEYS! }, own.account.id);
    const { body } = await call('GET', supportPath, { token: support });
    expect(body.account).toEqual(own.account);
    expect(body.sessions).toHaveLength(1);
    expect((await call('GET', '/api/user/me', { token: support })).status).toBe(401);
    expect((await call('DELETE', supportPath, { token: support })).status).toBe(200);
    expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
    expect((await call('GET', supportPath, { token: support })).status).toBe(404);
  });
});
