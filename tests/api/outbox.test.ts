import { describe, expect, it, vi } from 'vitest';
import { botCall, call, vars } from './support/api.ts';
import { advanceClock, minute } from './support/clock.ts';
import { runCron } from './support/cron.ts';
import { database } from './support/database.ts';
import { parallel } from './support/parallel.ts';
import { newContact, newPerson } from './support/person.ts';
import { eventsAbout, sandbox } from './support/sandbox.ts';

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
      }
      advanceClock(minute);
      await runCron();
      expect(await eventsAbout(people[0]!.phone)).toEqual([]);
      await sandbox.faults({ bot: null });
      advanceClock(minute);
      await parallel(3, () => runCron());
      for (const { phone } of people) {
        const told = (await eventsAbout(phone)).map(({ type, data }) => data.platform ?? type);
        expect(told).toEqual(['web', 'whatsapp', 'web']);
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
    expect(await eventsAbout(phone)).toEqual([]);
    advanceClock(minute);
    await runCron();
    expect(await eventsAbout(phone)).toHaveLength(1);
  });
});

describe('an event that the bot refuses for good', () => {
  const outboxOf = async (phone: string) =>
    (await database.execute({ sql: 'select * from outbox where phone = ?', args: [phone] })).rows;
  const choose = (token: string, platform: string) => call('PUT', '/api/user/platform', { token, body: { platform } });

  it.each([400, 401, 404, 410, 422])('is parked after %i, logged, and the next one follows', async (status) => {
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((line) => lines.push(line));
    const { phone, token } = await newPerson();
    await sandbox.faults({ bot: { status } });
    await choose(token, 'web');
    await vi.waitFor(async () => expect(await outboxOf(phone)).toMatchObject([{ parked_at: expect.any(Number) }]));
    await sandbox.faults({ bot: null });
    await choose(token, 'whatsapp');
    await vi.waitFor(async () =>
      expect((await eventsAbout(phone)).map(({ data }) => data.platform)).toEqual(['whatsapp']),
    );
    const parked = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'outbox_parked');
    expect(parked).toMatchObject([{ level: 'info', type: 'platform.changed', reason: 'refused' }]);
    expect(JSON.stringify(parked)).not.toContain(phone);
    vi.restoreAllMocks();
  });

  it.each([302, 408, 425, 429, 500, 503])('is none after %i: it is sent again', async (status) => {
    const { phone, token } = await newPerson();
    await sandbox.faults({ bot: { status } });
    await choose(token, 'web');
    await scheduler.wait(400);
    expect(await outboxOf(phone)).toMatchObject([{ parked_at: null, attempts: 1 }]);
    await sandbox.faults({ bot: null });
    advanceClock(minute);
    await runCron();
    expect(await eventsAbout(phone)).toHaveLength(1);
  });

  it('is an error in the log when it is a deletion', async () => {
    const lines: string[] = [];
    vi.spyOn(console, 'error').mockImplementation((line) => lines.push(line));
    const { phone, token } = await newPerson();
    await sandbox.faults({ bot: { status: 422 } });
    await call('DELETE', '/api/user/me', { token });
    await vi.waitFor(async () => expect(await outboxOf(phone)).toMatchObject([{ parked_at: expect.any(Number) }]));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', event: 'outbox_parked', type: 'user.deleted' },
    ]);
    vi.restoreAllMocks();
  });
});

it('sends a deletion first: earlier events of the number go with the account', async () => {
  const { phone, token } = await newPerson();
  await sandbox.faults({ bot: { status: 500 } });
  await call('PUT', '/api/user/platform', { token, body: { platform: 'web' } });
  await scheduler.wait(400);
  await sandbox.faults({ bot: null });
  await call('DELETE', '/api/user/me', { token });
  await vi.waitFor(async () => expect((await eventsAbout(phone)).map(({ type }) => type)).toEqual(['user.deleted']));
});

it('sends a deletion after the event that is on its way, which then is not repeated', async () => {
  for (const lost of [false, true]) {
    const { phone, token } = await newPerson();
    await sandbox.faults({ bot: { delayMs: 1500, ...(lost && { cut: true as const }) } });
    await call('PUT', '/api/user/platform', { token, body: { platform: 'web' } });
    await scheduler.wait(600);
    await sandbox.faults({ bot: null });
    await call('DELETE', '/api/user/me', { token });
    await vi.waitFor(async () => expect(await eventsAbout(phone)).toHaveLength(2), { timeout: 5000 });
    expect((await eventsAbout(phone)).map(({ type }) => type)).toEqual(['platform.changed', 'user.deleted']);
    const { rows } = await database.execute({ sql: 'select 1 from outbox where phone = ?', args: [phone] });
    expect(rows).toEqual([]);
  }
});

it('holds at most five connections to the bot at once', async () => {
  const people = await parallel(12, () => newPerson());
  await sandbox.faults({ bot: { status: 503 } });
  for (const { token } of people) await call('PUT', '/api/user/platform', { token, body: { platform: 'web' } });
  await scheduler.wait(400);
  await sandbox.faults({ bot: null });
  const real = globalThis.fetch;
  let [open, most] = [0, 0];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const url = input instanceof Request ? input.url : input.toString();
    if (url !== vars.BOT_WEBHOOK_URL) return real(input, init);
    expect(init?.redirect).toBe('manual');
    open += 1;
    most = Math.max(most, open);
    await scheduler.wait(50);
    return real(input, init).finally(() => (open -= 1));
  });
  advanceClock(minute);
  await runCron();
  vi.restoreAllMocks();
  expect(most).toBe(5);
  for (const { phone } of people) expect(await eventsAbout(phone)).toHaveLength(1);
});

it('writes no events where there is no bot', async () => {
  const { phone, token } = await newPerson();
  const settings = { BOT_WEBHOOK_URL: undefined as never };
  await call('PUT', '/api/user/platform', { token, body: { platform: 'web' }, settings });
  await call('DELETE', '/api/user/me', { token, settings });
  const { rows } = await database.execute({ sql: 'select 1 from outbox where phone = ?', args: [phone] });
  expect(rows).toEqual([]);
});

describe('the cron', () => {
  it('sends the bot one event when a trial ends', async () => {
    const { phone } = await newContact();
    const { body } = await botCall('/api/bot/trials', { phone, days: 1 });
    const trialToken = new URL(body.url).searchParams.get('token');
    await call('POST', '/auth/verify-trial-token', { body: { trialToken } });
    const plans = async () => (await eventsAbout(phone)).map(({ data }) => data.tier);
    await vi.waitFor(async () => expect(await plans()).toEqual(['premium']));
    const sql = 'update users set trial_ends_at = ? where phone = ?';
    await database.execute({ sql, args: [Date.now() - 1, phone] });
    await parallel(5, () => runCron());
    expect(await plans()).toEqual(['premium', 'free']);
  });
});
