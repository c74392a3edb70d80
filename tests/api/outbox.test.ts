import { afterEach, describe, expect, it, vi } from 'vitest';
import { botCall, call } from './support/api.ts';
import { advanceClock, minute } from './support/clock.ts';
import { runCron } from './support/cron.ts';
import { database } from './support/database.ts';
import { parallel } from './support/parallel.ts';
import { newContact, newPerson } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';

afterEach(() => sandbox.faults({ bot: null }));

const eventsOf = async (phone: string) => (await sandbox.botEvents()).filter(({ data }) => data.phone === phone);

describe('while the bot is down', () => {
  it.each([{ status: 500 }, { drop: true as const }])(
    '%o loses nothing, and keeps the order of each user',
    async (fault) => {
      const people = await parallel(3, () => newPerson());
      await sandbox.faults({ bot: fault });
      for (const { token } of people) {
        for (const platform of ['web', 'whatsapp', 'web']) {
          await call('PUT', '/api/user/platform', { token, body: { platform } });
        }
        await call('DELETE', '/api/user/me', { token });
      }
      advanceClock(minute);
      await runCron();
      expect(await eventsOf(people[0]!.phone)).toEqual([]);
      await sandbox.faults({ bot: null });
      advanceClock(minute);
      await parallel(3, () => runCron());
      for (const { phone } of people) {
        const told = (await eventsOf(phone)).map(({ type, data }) => data.platform ?? type);
        expect(told).toEqual(['web', 'whatsapp', 'web', 'user.deleted']);
      }
    },
  );

  it('waits longer after each refusal', async () => {
    const { phone, token } = await newPerson();
    await sandbox.faults({ bot: { status: 500 } });
    await sandbox.resetStats();
    await call('PUT', '/api/user/platform', { token, body: { platform: 'web' } });
    await vi.waitFor(async () => expect((await sandbox.stats()).bot).toBe(1));
    await scheduler.wait(100);
    await sandbox.faults({ bot: null });
    await runCron();
    expect(await eventsOf(phone)).toEqual([]);
    advanceClock(minute);
    await runCron();
    expect(await eventsOf(phone)).toHaveLength(1);
  });
});

describe('the cron', () => {
  it('tells the bot once that a trial has ended', async () => {
    const { phone } = await newContact();
    const { body } = await botCall('/api/bot/trials', { phone, days: 1 });
    const trialToken = new URL(body.url).searchParams.get('token');
    await call('POST', '/auth/verify-trial-token', { body: { trialToken } });
    const plans = async () => (await eventsOf(phone)).map(({ data }) => data.tier);
    await vi.waitFor(async () => expect(await plans()).toEqual(['premium']));
    const sql = 'update users set trial_ends_at = ? where phone = ?';
    await database.execute({ sql, args: [Date.now() - 1, phone] });
    await parallel(5, () => runCron());
    expect(await plans()).toEqual(['premium', 'free']);
  });
});
