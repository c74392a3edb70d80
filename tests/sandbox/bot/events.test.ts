import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { secrets, trySandbox } from '../try-sandbox.ts';

const webhook = new Webhook(secrets.BOT_WEBHOOK_SECRET);

let sandbox: Awaited<ReturnType<typeof trySandbox>>;
beforeAll(async () => void (sandbox = await trySandbox()));
afterAll(() => sandbox.close());

function tell(id: string, event: object, signed = event) {
  const now = new Date();
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': webhook.sign(id, now, JSON.stringify(signed)),
  };
  return sandbox.call('POST', '/bot/webhook', event, headers);
}

test('events count once, and only when signed', async () => {
  const event = {
    type: 'plan.changed',
    timestamp: '2026-01-01T00:00:00Z',
    data: { phone: '+15550000006', tier: 'basic' },
  };
  for (let again = 0; again < 3; again += 1) expect((await tell('event-1', event)).status).toBe(200);
  expect((await tell('event-2', event, {})).status).toBe(401);
  expect((await sandbox.call('POST', '/bot/webhook', event)).status).toBe(401);
  expect((await sandbox.call('GET', '/bot/events')).json).toEqual([event]);
});

test('a deletion erases the chat and leaves the codes that WhatsApp brought', async () => {
  await sandbox.call('POST', '/phones/5215512345678/messages', { text: 'A secret' });
  await tell('event-3', { type: 'user.deleted', timestamp: '2026-01-01T00:00:00Z', data: { phone: '+525512345678' } });
  expect((await sandbox.call('GET', '/phones/5215512345678/messages')).json).toEqual([]);
});
