import { describe, expect, it, vi } from 'vitest';
import { botCall, call, parallel, runCron, vars } from './support/api.ts';
import { outboxOf, untilDelivered, untilRetried } from './support/chat.ts';
import { advanceClock, day, eventually, minute, second, until } from './support/clock.ts';
import { database } from './support/database.ts';
import { logLines } from './support/log.ts';
import { newContact, newPerson, userOf } from './support/person.ts';
import { holdRequests } from './support/requests.ts';
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
    // The clock stands still.
    advanceClock(0);
    await call('PUT', '/api/user/platform', { token, body: { platform: 'web' } });
    const pauses: number[] = [];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await untilRetried(phone, attempt);
      pauses.push(Number((await outboxOf(phone))[0]!['due_at']) - Date.now());
      if (attempt === 5) await sandbox.faults({ bot: null });
      advanceClock(pauses.at(-1)! - 1);
      await runCron();
      expect(await eventsAbout(phone), 'events before the pause has ended').toEqual([]);
      advanceClock(1);
      await runCron();
    }
    expect(pauses, 'pauses after each refusal').toEqual([5, 15, 30, 45, 60].map((seconds) => seconds * second));
    expect(await eventsAbout(phone)).toHaveLength(1);
  });
});

it('keeps the order of events of which the version before has written some, and both versions find all', async () => {
  const { phone, token } = await newPerson();
  await sandbox.faults({ bot: { status: 503, match: phone } });
  const sql = 'insert into outbox (phone, body, created_at, due_at) values (?, ?, ?, ?)';
  const body = JSON.stringify({ type: 'platform.changed', timestamp: '', data: { phone, platform: 'neither' } });
  await call('PUT', '/api/user/platform', { token, body: { platform: 'web' } });
  await database.execute({ sql, args: [phone, body, Date.now(), Date.now()] });
  await call('PUT', '/api/user/platform', { token, body: { platform: 'whatsapp' } });
  const owners = (await outboxOf(phone)).map((row) => row['user_id']);
  expect(owners).toEqual([userOf(token), userOf(token), userOf(token)]);
  await sandbox.faults({ bot: null });
  advanceClock(minute);
  await runCron();
  await untilDelivered(phone);
  expect((await eventsAbout(phone)).map(({ data }) => data.platform)).toEqual(['web', 'neither', 'whatsapp']);
});

describe('an event that the bot refuses for good', () => {
  const choose = (token: string, platform: string) => call('PUT', '/api/user/platform', { token, body: { platform } });

  it.each([400, 401, 404, 410, 422])('is parked after %i, logged, and the next one follows', async (status) => {
    const { phone, token } = await newPerson();
    await sandbox.faults({ bot: { status } });
    await choose(token, 'web');
    await eventually(async () => expect(await outboxOf(phone)).toMatchObject([{ parked_at: expect.any(Number) }]));
    await sandbox.faults({ bot: null });
    await choose(token, 'whatsapp');
    await eventually(async () =>
      expect((await eventsAbout(phone)).map(({ data }) => data.platform)).toEqual(['whatsapp']),
    );
    const parked = logLines('outbox_parked');
    expect(parked).toMatchObject([{ level: 'info', type: 'platform.changed', reason: 'refused' }]);
    expect(JSON.stringify(parked)).not.toContain(phone);
  });

  it.each([302, 408, 425, 429, 500, 503])('is none after %i: it is sent again', async (status) => {
    const { phone, token } = await newPerson();
    await sandbox.faults({ bot: { status } });
    await choose(token, 'web');
    await untilRetried(phone);
    expect(await outboxOf(phone)).toMatchObject([{ parked_at: null, attempts: 1 }]);
    await sandbox.faults({ bot: null });
    advanceClock(minute);
    await runCron();
    expect(await eventsAbout(phone)).toHaveLength(1);
  });

  it('is an error in the log when it is a deletion', async () => {
    const { phone, token } = await newPerson();
    await sandbox.faults({ bot: { status: 422 } });
    await call('DELETE', '/api/user/me', { token });
    await eventually(async () => expect(await outboxOf(phone)).toMatchObject([{ parked_at: expect.any(Number) }]));
    await eventually(() => expect(logLines('outbox_parked')).toMatchObject([{ level: 'error', type: 'user.deleted' }]));
  });
});

it('keeps of a deletion that the bot refused neither number nor id, and nothing after 30 days', async () => {
  const { phone, token } = await newPerson();
  const userId = userOf(token);
  await sandbox.faults({ bot: { status: 422, match: phone } });
  await call('DELETE', '/api/user/me', { token });
  await eventually(async () => expect(await outboxOf(phone)).toMatchObject([{ parked_at: expect.any(Number) }]));
  const { seq } = (await outboxOf(phone))[0]!;
  await runCron();
  const left = async () =>
    JSON.stringify((await database.execute({ sql: 'select * from outbox where seq = ?', args: [seq!] })).rows);
  expect(await outboxOf(phone)).toEqual([]);
  expect(await left()).toContain('user.deleted');
  for (const part of [phone.slice(1), userId]) expect(await left()).not.toContain(part);
  advanceClock(29 * day);
  await runCron();
  expect(await left()).toContain('user.deleted');
  advanceClock(2 * day);
  await runCron();
  expect(await left()).toBe('[]');
});

it('sends a deletion first: earlier events of the number go with the account', async () => {
  const { phone, token } = await newPerson();
  await sandbox.faults({ bot: { status: 500 } });
  await call('PUT', '/api/user/platform', { token, body: { platform: 'web' } });
  await untilRetried(phone);
  await sandbox.faults({ bot: null });
  await call('DELETE', '/api/user/me', { token });
  await eventually(async () => expect((await eventsAbout(phone)).map(({ type }) => type)).toEqual(['user.deleted']));
});

it('sends a deletion after the event that is on its way, which then is not repeated', async () => {
  for (const isLost of [false, true]) {
    const { phone, token } = await newPerson();
    const { arrived, release } = holdRequests(vars.BOT_WEBHOOK_URL!, phone);
    await call('PUT', '/api/user/platform', { token, body: { platform: 'web' } });
    await arrived();
    await call('DELETE', '/api/user/me', { token });
    release({ isLost });
    await eventually(async () => expect(await eventsAbout(phone)).toHaveLength(2));
    expect((await eventsAbout(phone)).map(({ type }) => type)).toEqual(['platform.changed', 'user.deleted']);
    await untilDelivered(phone);
    expect(await eventsAbout(phone)).toHaveLength(2);
  }
});

it('holds at most five connections to the bot at once', async () => {
  const people = await parallel(12, () => newPerson());
  await sandbox.faults({ bot: { status: 503 } });
  for (const { token } of people) await call('PUT', '/api/user/platform', { token, body: { platform: 'web' } });
  for (const { phone } of people) await untilRetried(phone);
  await sandbox.faults({ bot: null });
  const real = globalThis.fetch;
  let [open, most] = [0, 0];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const url = input instanceof Request ? input.url : input.toString();
    if (url !== vars.BOT_WEBHOOK_URL) return real(input, init);
    expect(init?.redirect).toBe('manual');
    open += 1;
    most = Math.max(most, open);
    await until(
      'five connections',
      () => most,
      (connections) => connections >= 5,
    );
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
  expect(await outboxOf(phone)).toEqual([]);
});

describe('the cron', () => {
  it('sends the bot one event when a trial ends', async () => {
    const { phone } = await newContact();
    const { body } = await botCall('/api/bot/trials', { phone, days: 1 });
    const trialToken = new URL(body.url).searchParams.get('token');
    await call('POST', '/auth/verify-trial-token', { body: { trialToken } });
    const plans = async () => (await eventsAbout(phone)).map(({ data }) => data.tier);
    await eventually(async () => expect(await plans()).toEqual(['premium']));
    const sql = 'update users set trial_ends_at = ? where phone = ?';
    await database.execute({ sql, args: [Date.now() - 1, phone] });
    await parallel(5, () => runCron());
    expect(await plans()).toEqual(['premium', 'free']);
  });
});
