import { expect, it } from 'vitest';
import { botCall } from './support/api.ts';
import { newContact } from './support/person.ts';

const post = (body: object, id?: string) => botCall('/api/bot/usage', body, id);

it('counts a message of somebody who has written', async () => {
  const { phone } = await newContact();
  const { status, body } = await post({ phone });
  expect(status).toBe(200);
  expect(body).toMatchObject({ success: true, allowed: true, used: 1, limit: 5, remaining: 4, voice: false, tier: 'free' });
});
