import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { postEvent, startTestBot, usage } from '../test-sandbox.ts';

let sandbox: Awaited<ReturnType<typeof startTestBot>>;
beforeAll(async () => void (sandbox = await startTestBot()));
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());

const sent = () => sandbox.calls.map(({ path, body }) => ({ path, body }));

test('a message reports the contact, posts the usage, both signed, and gets a reply', async () => {
  const { status, json } = await sandbox.call('POST', '/phones/+15551234567/messages', { text: 'Hi' });
  expect(status).toBe(200);
  expect(json.usage).toEqual(usage);
  expect(sent()).toEqual([
    { path: '/api/bot/contacts', body: { phone: '+15551234567', whatsappId: '15551234567' } },
    { path: '/api/bot/usage', body: { phone: '+15551234567', kind: 'text' } },
  ]);
  const messages = (await sandbox.call('GET', '/phones/15551234567/messages')).json;
  expect(messages).toMatchObject([
    { from: 'user', text: 'Hi' },
    { from: 'solace', text: json.reply },
  ]);
});

test.each([
  ['the week is used up', { used: 5, remaining: 0 }, false, /weekly allowance of 5/],
  ['voice is not in the plan', {}, true, /paid plan/],
  ['the account waits', {}, false, /waiting for approval/],
])('says so when %s', async (_, changes, voice, words) => {
  sandbox.respondWith('/api/bot/usage', 200, { ...usage, allowed: false, ...changes });
  const { json } = await sandbox.call('POST', '/phones/15550000002/messages', { text: 'Hi', voice });
  expect(json.reply).toMatch(words);
});

test('a trial link goes to the phone', async () => {
  sandbox.respondWith('/api/bot/trials', 200, { success: true, url: 'http://localhost/activate-trial?token=abc' });
  const { json } = await sandbox.call('POST', '/phones/15550000003/trial', { tier: 'basic', days: 3 });
  expect(json).toEqual({ url: 'http://localhost/activate-trial?token=abc' });
  expect(sandbox.calls[0]!.body).toEqual({ phone: '+15550000003', tier: 'basic', days: 3 });
  expect((await sandbox.call('GET', '/phones/15550000003/messages')).json).toMatchObject([{ url: json.url }]);
});

test('a status is sent to the API', async () => {
  await sandbox.call('POST', '/phones/15550000004/status', { status: 'pending' });
  expect(sent()).toEqual([{ path: '/api/bot/approvals', body: { phone: '+15550000004', status: 'pending' } }]);
});

test('an error of the API is passed on', async () => {
  sandbox.respondWith('/api/bot/trials', 409, { success: false, code: 'conflict' });
  expect(await sandbox.call('POST', '/phones/15550000005/trial', {})).toMatchObject({
    status: 502,
    json: { call: '/api/bot/trials', status: 409, response: { code: 'conflict' } },
  });
});

test('a phone must be a number', async () => {
  expect((await sandbox.call('POST', '/phones/nobody/messages', {})).status).toBe(400);
});

test('events count once, and only when signed', async () => {
  const event = {
    type: 'plan.changed',
    timestamp: '2026-01-01T00:00:00Z',
    data: { phone: '+15550000006', tier: 'basic' },
  };
  for (let again = 0; again < 3; again += 1)
    expect((await postEvent(sandbox, event, { id: 'event-1' })).status).toBe(200);
  expect((await postEvent(sandbox, event, { id: 'event-2', signed: {} })).status).toBe(401);
  expect((await sandbox.call('POST', '/bot/webhook', event)).status).toBe(401);
  const events = (await sandbox.call('GET', '/bot/events')).json as (typeof event)[];
  expect(events.filter(({ data }) => data.phone === event.data.phone)).toEqual([event]);
});

test('a deletion erases the chat and keeps the codes that WhatsApp delivered', async () => {
  await sandbox.call('POST', '/phones/5215512345678/messages', { text: 'A secret' });
  await postEvent(sandbox, {
    type: 'user.deleted',
    timestamp: '2026-01-01T00:00:00Z',
    data: { phone: '+525512345678' },
  });
  expect((await sandbox.call('GET', '/phones/5215512345678/messages')).json).toEqual([]);
});

test('the old number learns that the account has another one, but not which', async () => {
  const data = { phone: '+15550000009', previousPhone: '+15550000008' };
  const event = { type: 'user.phone_changed', timestamp: '2026-01-01T00:00:00Z', data };
  for (let again = 0; again < 2; again += 1) await postEvent(sandbox, event, { id: 'event-changed' });
  const messages = (await sandbox.call('GET', '/phones/15550000008/messages')).json;
  expect(messages).toMatchObject([
    { from: 'solace', text: expect.stringMatching(/^Your Solace account has a new number/) },
  ]);
  expect(JSON.stringify(messages)).not.toContain('0009');
});

test('a hidden number is reported by its id alone, with the code of the login page', async () => {
  await sandbox.call('PUT', '/phones/15550000006/hidden', { hidden: true });
  sandbox.respondWith('/api/bot/usage', 200, { ...usage, allowed: false, used: 0 });
  const greeting = { text: 'Hi Solace! My number is 15550000006. K7MPQ2XD' };
  const { json } = await sandbox.call('POST', '/phones/15550000006/messages', greeting);
  expect(json.reply).toMatch(/^Thank you! Type the code/);
  const businessUserId = sandbox.calls[0]!.body.businessUserId;
  expect(businessUserId).toMatch(/^US\.[\da-f]{20}$/);
  expect(sent()).toEqual([
    { path: '/api/bot/contacts', body: { businessUserId, linkCode: 'K7MPQ2XD' } },
    { path: '/api/bot/usage', body: { businessUserId, kind: 'text' } },
  ]);
});

test.each([
  [404, /I cannot see your number/],
  [400, /used or too old/],
])('somebody whom the API refuses with %d is told what to do', async (status, words) => {
  await sandbox.call('PUT', '/phones/15550000007/hidden', { hidden: true });
  sandbox.respondWith('/api/bot/contacts', status, { success: false });
  const { json } = await sandbox.call('POST', '/phones/15550000007/messages', { text: 'Hi' });
  expect(json.reply).toMatch(words);
});
