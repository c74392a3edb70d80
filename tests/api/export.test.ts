import { describe, expect, it } from 'vitest';
import { supportToken } from '../../worker/sign-in/session-token.ts';
import { botCall, call, send, vars, parallel } from './support/api.ts';
import { newSubscriber } from './support/buying.ts';
import { newWriter, reply, write } from './support/chat.ts';
import { database } from './support/database.ts';
import { externalSession, newPerson, receiveCode } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';

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
