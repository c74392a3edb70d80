import { describe, expect, it } from 'vitest';
import { botCall, parallel } from './support/api.ts';
import { advanceClock, day, second } from './support/clock.ts';
import { getMe, newContact, newPerson } from './support/person.ts';

const post = (body: object, id?: string) => botCall('/api/bot/usage', body, id);
const entitlements = (phone: string) => botCall('/api/bot/entitlements', { phone });

describe('the count of the week', () => {
  it('counts a message of a number that has written, and shows the count in the profile', async () => {
    const { phone, token } = await newPerson();
    const count = { allowed: true, used: 1, limit: 5, remaining: 4, voice: false, tier: 'free' };
    const resetsAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const { status, body } = await post({ phone });
    expect({ status, body }).toEqual({ status: 200, body: { success: true, ...count, resetsAt } });
    expect((await entitlements(phone)).body).toMatchObject(count);
    const { profile } = (await getMe(token)).body;
    expect(profile.messagesUsedThisPeriod).toBe(1);
    const dates = { renewalDate: null, cancelAtDate: null, scheduledDowngradeTierId: null };
    const plan = { subscriptionTier: 'free', subscriptionStatus: 'active', messagesUsedThisPeriod: 1 };
    expect(profile.metadata).toEqual({ ...plan, ...dates });
  });

  it('does not count what would pass the limit', async () => {
    const { phone } = await newContact();
    await post({ phone, count: 3 });
    expect((await post({ phone, count: 3 })).body).toMatchObject({ allowed: false, used: 3, remaining: 2 });
    const answers = await parallel(50, () => post({ phone }));
    expect(answers.filter(({ body }) => body.allowed)).toHaveLength(2);
    expect((await post({ phone })).body).toMatchObject({ allowed: false, used: 5, remaining: 0 });
    expect((await entitlements(phone)).body).toMatchObject({ allowed: false, used: 5 });
  });

  it('refuses voice where the plan has none', async () => {
    const { phone } = await newContact();
    expect((await post({ phone, kind: 'voice' })).body).toMatchObject({ allowed: false, used: 0, voice: false });
  });

  it('counts the same webhook-id once with the same response, and refuses it with another body or path', async () => {
    const { phone } = await newContact();
    const id = crypto.randomUUID();
    const answers = await parallel(50, () => post({ phone, count: 2 }, id));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    await post({ phone });
    expect((await post({ phone, count: 2 }, id)).text).toBe(answers[0]!.text);
    const message = 'Event id already used with a different body or path';
    const reused = { status: 409, body: { success: false, code: 'id_reused', message } };
    expect(await post({ phone }, id)).toMatchObject(reused);
    expect(await botCall('/api/bot/entitlements', { phone }, id)).toMatchObject(reused);
    expect((await entitlements(phone)).body).toMatchObject({ used: 3 });
  });

  it('is counted from the first contact and starts at 0 again, also when nothing ran at midnight', async () => {
    const { phone, token } = await newPerson();
    const first = (await post({ phone, count: 5 })).body;
    advanceClock(Date.parse(first.resetsAt) - Date.now() - second);
    expect((await entitlements(phone)).body).toMatchObject({ used: 5, resetsAt: first.resetsAt });
    advanceClock(second);
    const next = new Date(Date.parse(first.resetsAt) + 7 * day).toISOString();
    expect((await entitlements(phone)).body).toMatchObject({ used: 0, allowed: true, resetsAt: next });
    expect((await getMe(token)).body.profile.messagesUsedThisPeriod).toBe(0);
    expect((await post({ phone })).body).toMatchObject({ used: 1, resetsAt: next });
  });
});
