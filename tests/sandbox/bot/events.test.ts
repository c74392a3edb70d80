import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSandbox } from '../test-sandbox.ts';
import { postEvent } from './test-bot.ts';

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
beforeAll(async () => void (sandbox = await startTestSandbox()));
afterAll(() => sandbox.close());

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
  expect((await sandbox.call('GET', '/bot/events')).json).toEqual([event]);
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
