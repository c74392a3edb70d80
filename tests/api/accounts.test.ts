import { describe, expect, it } from 'vitest';
import { keyedHashes } from '../../worker/lib/crypto.ts';
import { botCall, call, parallel, randomAddress, runCron, vars } from './support/api.ts';
import { advanceClock, day, second } from './support/clock.ts';
import { database } from './support/database.ts';
import { externalSession, newContact, newPerson, newPhone, receiveCode } from './support/person.ts';
import { deliveredEvents, outboxOf } from './support/sandbox.ts';
import { OpenStream } from './support/streams.ts';

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
