import { afterAll, beforeEach, expect, test } from 'vitest';
import { startTestBot, usage } from '../test-sandbox.ts';

const sandbox = await startTestBot();
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());

const write = async (phone: string, message: object) =>
  (await sandbox.call('POST', `/phones/${phone}/messages`, message)).json;

test('a message reports the contact, posts the usage, both signed, and gets a reply', async () => {
  const { reply, usage: answered } = await write('+15551234567', { text: 'Hi' });
  expect(answered).toEqual(usage);
  expect(sandbox.calls).toEqual([
    {
      path: '/api/bot/contacts',
      body: {
        phone: '+15551234567',
        whatsappId: '15551234567',
      },
    },
    {
      path: '/api/bot/usage',
      body: {
        phone: '+15551234567',
        kind: 'text',
      },
    },
  ]);
  expect(await sandbox.messagesOf('15551234567')).toMatchObject([
    { from: 'user', text: 'Hi' },
    { from: 'solace', text: reply },
  ]);
});

test.each([
  ['the week is used up', { used: 5, remaining: 0 }, false, /weekly allowance of 5/],
  ['voice is not in the plan', {}, true, /paid plan/],
  ['the account waits', {}, false, /waiting for approval/],
])('says so when %s', async (_, changes, voice, words) => {
  sandbox.respondWith('/api/bot/usage', 200, {
    ...usage,
    allowed: false,
    ...changes,
  });
  expect(
    (
      await write('15550000002', {
        text: 'Hi',
        voice,
      })
    ).reply,
  ).toMatch(words);
});

test('a status is sent to the API', async () => {
  await sandbox.call('POST', '/phones/15550000004/status', { status: 'pending' });
  expect(sandbox.calls).toEqual([
    {
      path: '/api/bot/approvals',
      body: {
        phone: '+15550000004',
        status: 'pending',
      },
    },
  ]);
});

test('an error of the API is passed on, and a phone must be a number', async () => {
  sandbox.respondWith('/api/bot/trials', 409, {
    success: false,
    code: 'conflict',
  });
  expect(await sandbox.call('POST', '/phones/15550000005/trial', {})).toMatchObject({
    status: 502,
    json: {
      call: '/api/bot/trials',
      status: 409,
      response: { code: 'conflict' },
    },
  });
  expect((await sandbox.call('POST', '/phones/nobody/messages', {})).status).toBe(400);
});

test('events count once, and only when signed', async () => {
  const data = { phone: '+15550000006', tier: 'basic' };
  const post = (options: object) => sandbox.postEvent('plan.changed', data, options);
  for (let again = 0; again < 3; again += 1)
    expect((await post({ id: 'event-1' })).status).toBe(200);
  expect((await post({ id: 'event-2', signed: {} })).status).toBe(401);
  expect(
    (
      await sandbox.call('POST', '/bot/webhook', {
        type: 'plan.changed',
        data,
      })
    ).status,
  ).toBe(401);
  const events: { data: { phone: string } }[] = (await sandbox.call('GET', '/bot/events')).json;
  expect(events.filter((event) => event.data.phone === data.phone)).toEqual([
    {
      type: 'plan.changed',
      timestamp: '2026-01-01T00:00:00Z',
      data,
    },
  ]);
});

test('a deletion erases the chat on each handset of the person', async () => {
  await write('5215512345678', { text: 'A secret' });
  const timestamp = new Date().toISOString();
  await sandbox.postEvent('user.deleted', { phone: '+525512345678' }, { timestamp });
  expect(await sandbox.messagesOf('5215512345678')).toEqual([]);
});

test('a deletion that arrives late leaves what the next account has written', async () => {
  const number = '15550000019';
  const timestamp = new Date(Date.now() - 1).toISOString();
  await write(number, { text: 'Hello again' });
  const written = await sandbox.messagesOf(number);
  await sandbox.postEvent('user.deleted', { phone: `+${number}` }, { timestamp });
  expect(await sandbox.messagesOf(number)).toEqual(written);
});

test('the old number learns that the account has another one, but not which', async () => {
  const data = { phone: '+15550000009', previousPhone: '+15550000008' };
  for (let again = 0; again < 2; again += 1)
    await sandbox.postEvent('user.phone_changed', data, { id: 'event-changed' });
  const messages = await sandbox.messagesOf('15550000008');
  expect(messages).toMatchObject([
    { from: 'solace', text: expect.stringMatching(/^Your Solace account has a new number/) },
  ]);
  for (const { text } of messages) expect(text).not.toContain('0009');
});

test('a withdrawal sends its receipt and the notice of the refund to the phone, once each', async () => {
  const phone = '+15550000010';
  const receipt = 'We received your withdrawal from Solace Basic.';
  const refund = { phone, amount: 1199, currency: 'usd' };
  for (let again = 0; again < 2; again += 1) {
    await sandbox.postEvent('withdrawal.received', { phone, receipt }, { id: 'event-received' });
    await sandbox.postEvent('withdrawal.refunded', refund, { id: 'event-refunded' });
  }
  expect(await sandbox.messagesOf('15550000010')).toMatchObject([
    { from: 'solace', text: receipt },
    { from: 'solace', text: 'Your refund of $11.99 is on its way to you.' },
  ]);
  const yen = { phone, amount: 600, currency: 'jpy' };
  await sandbox.postEvent('withdrawal.refunded', yen, { id: 'event-refunded-yen' });
  const { text } = (await sandbox.messagesOf('15550000010')).at(-1)!;
  expect(text).toBe('Your refund of ¥600 is on its way to you.');
});

test('a withdrawal whose data is not as documented is refused', async () => {
  const phone = '+15550000011';
  const refused = [
    await sandbox.postEvent('withdrawal.received', { phone }),
    await sandbox.postEvent('withdrawal.refunded', {
      phone,
      amount: 11.99,
      currency: 'usd',
    }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([422, 422]);
  expect(await sandbox.messagesOf('15550000011')).toEqual([]);
});

test('somebody whose number is hidden and whose code is used is told what to do', async () => {
  await sandbox.call('PUT', '/phones/15550000007/hidden', { hidden: true });
  sandbox.respondWith('/api/bot/contacts', 400, { success: false });
  expect((await write('15550000007', { text: 'Hi! K7MPQ2XD' })).reply).toMatch(/used or too old/);
  expect(sandbox.calls[0]!.body).toEqual({
    businessUserId: expect.any(String),
    linkCode: 'K7MPQ2XD',
  });
});
