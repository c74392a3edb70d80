import { describe, expect, it, vi } from 'vitest';
import { consentVersion } from '../../worker/contract/chat-limits.ts';
import { botCall, call, cronAfter, parallel, runCron, vars } from './support/api.ts';
import {
  clearChat,
  consent,
  newSettledWriter,
  untilDelivered,
  untilRetried,
} from './support/chat.ts';
import { advanceClock, day, eventually, minute, second } from './support/clock.ts';
import { beginChange, verifyChange } from './support/codes.ts';
import { eventTypes, newContact } from './support/contacts.ts';
import {
  deleteAccount,
  newPerson,
  trialSession,
  userOf,
  choosePlatform,
} from './support/person.ts';
import { holdRequests, logLines, watchDatabase } from './support/requests.ts';
import {
  database,
  during,
  eventsAbout,
  outboxOf,
  run,
  sandbox,
  untilParked,
} from './support/sandbox.ts';
import { fullUnless } from '../long-tours.ts';

const platformsTold = async (phone: string) =>
  (await eventsAbout(phone)).map(({ data }) => data.platform);

it('waits longer after each refusal of the bot', async () => {
  const { phone, token } = await newPerson();
  await sandbox.faults({ bot: { status: 500 } });
  // The clock stands still.
  advanceClock(0);
  await choosePlatform(token);
  const pauses: number[] = [];
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await untilRetried(phone, attempt);
    pauses.push(Number((await outboxOf(phone))[0]!['due_at']) - Date.now());
    if (attempt === 5) await sandbox.faults({ bot: null });
    await cronAfter(pauses.at(-1)! - 1);
    expect(await eventsAbout(phone), 'events before the pause has ended').toEqual([]);
    await cronAfter(1);
  }
  expect(pauses, 'pauses after each refusal').toEqual(
    [5, 15, 30, 45, 60].map((seconds) => seconds * second),
  );
  expect(await eventsAbout(phone)).toHaveLength(1);
});

it('keeps the order of events while the bot refuses the first of them', async () => {
  const { phone, token } = await newPerson();
  await during(
    {
      bot: {
        status: 503,
        match: 'platform.changed',
      },
    },
    async () => {
      await choosePlatform(token, 'web');
      await consent(token);
      await cronAfter(minute);
      expect(await eventsAbout(phone)).toEqual([]);
    },
  );
  await cronAfter(minute);
  await untilDelivered(phone);
  expect(await eventTypes(phone)).toEqual(['platform.changed', 'chat.consent']);
});

describe('what waits for the bot', () => {
  it('is of each platform, consent and clearing the newest alone', async () => {
    const { phone, token } = await newPerson();
    await during({ bot: { status: 503 } }, async () => {
      for (const platform of ['web', 'whatsapp', 'web']) await choosePlatform(token, platform);
      for (const _ of ['given', 'withdrawn', 'given again']) {
        await call('DELETE', '/api/user/chat/consent', { token });
        await consent(token);
      }
      for (let index = 0; index < 3; index += 1) await clearChat(token);
      await untilRetried(phone);
    });
    await cronAfter(minute);
    await untilDelivered(phone);
    const events = (await eventsAbout(phone)).map(({ type, data }) => [
      type,
      data.platform ?? data.version,
    ]);
    expect(events).toEqual([
      ['platform.changed', 'web'],
      ['chat.consent', consentVersion],
      ['chat.cleared', undefined],
    ]);
  });

  it(
    'is of events that the bot refuses the newest of each kind, too',
    { tags: ['full'] },
    async () => {
      const { phone, token } = await newSettledWriter();
      const parked = async () => (await outboxOf(phone)).filter((row) => row.parked_at !== null);
      await during({ bot: { status: 400, match: phone } }, async () => {
        for (const platform of ['web', 'whatsapp', 'web', 'whatsapp', 'web']) {
          await choosePlatform(token, platform);
          await eventually(async () => {
            const [row, ...others] = await parked();
            expect([JSON.parse(row!.body as string).data, others]).toEqual([{ platform }, []]);
          });
        }
      });
      expect(await outboxOf(phone)).toHaveLength(1);
    },
  );

  it('are at most 50 events of one account beside its messages', async () => {
    const { phone, token } = await newPerson();
    const plans = `with recursive n (n) as (select 1 union all select n + 1 from n where n < 60)
      insert into outbox (user_id, phone, body, created_at, due_at)
      select ?, ?, json_object('type', 'plan.changed', 'timestamp', '', 'data', json_object('tier', 'basic')), ?, ?
      from n`;
    const [now, later] = [Date.now(), Date.now() + day];
    // However long the test takes, nothing leaves the queue.
    await sandbox.faults({ bot: { status: 503 } });
    await run(plans, userOf(token), phone, now, later);
    await choosePlatform(token);
    const waiting = async (number = phone) =>
      (await outboxOf(number)).map(({ body }) => JSON.parse(body as string).type);
    // What a person has ended, or must learn, is not left out.
    await consent(token);
    await call('DELETE', '/api/user/chat/consent', { token });
    expect((await waiting()).slice(60)).toEqual([
      'platform.changed',
      'chat.cleared',
      'chat.consent',
    ]);
    const started = await trialSession(phone);
    expect(started).toBeTruthy();
    expect(await waiting()).toHaveLength(63);
    const some =
      'delete from outbox where seq in (select seq from outbox where phone = ? limit 21)';
    await run(some, phone);
    const begun = await beginChange(token);
    expect((await verifyChange(token, begun)).status).toBe(200);
    expect((await waiting(begun.phone)).slice(-1)).toEqual(['user.phone_changed']);
    expect(await waiting(begun.phone)).toHaveLength(43);
  });

  it('is no approval that the bot has taken back', async () => {
    const { phone } = await newContact();
    const set = (status: string) =>
      botCall('/api/bot/approvals', {
        phone,
        status,
      });
    await set('pending');
    await during({ bot: { status: 503, match: phone } }, async () => {
      await set('approved');
      await untilRetried(phone);
      await set('pending');
    });
    await cronAfter(minute);
    await untilDelivered(phone);
    expect(await eventsAbout(phone)).toEqual([]);
  });

  it('of one account in great number keeps no event of another from the bot', async () => {
    const [crowd, other] = [await newPerson(), await newPerson()];
    const rows = `with recursive n (n) as (select 1 union all select n + 1 from n where n < 3000)
      insert into outbox (user_id, phone, body, created_at, due_at, attempts)
      select ?, ?, json_object('type', 'plan.changed', 'timestamp', '', 'data', json_object('tier', 'basic')),
        0, case n when 1 then ? else 0 end, n = 1 from n`;
    await run(rows, userOf(crowd.token), crowd.phone, Date.now() + day);
    await during({ bot: { status: 503 } }, async () => {
      await choosePlatform(other.token);
      await untilRetried(other.phone);
    });
    const requests = watchDatabase('outbox');
    await cronAfter(minute);
    const told = await platformsTold(other.phone);
    await run('delete from outbox where phone = ?', crowd.phone);
    expect(told).toEqual(['web']);
    // The one writer of the database is held for no more rows at once.
    expect(Math.max(...requests.flatMap(({ written }) => written))).toBe(1000);
  });
});

it('sends an event about the account that its row names, whatever its body says', async () => {
  const [person, victim] = [await newPerson(), await newPerson()];
  await during({ bot: { status: 503 } }, async () => {
    await choosePlatform(person.token);
    await consent(person.token);
    await untilRetried(person.phone);
  });
  const named = {
    phone: victim.phone,
    userId: userOf(victim.token),
    businessUserId: 'US.1',
  };
  await run(
    "update outbox set phone = ?, body = json_patch(body, json_object('data', json(?))) where user_id = ?",
    victim.phone,
    JSON.stringify(named),
    userOf(person.token),
  );
  await cronAfter(minute);
  await untilDelivered(victim.phone);
  expect(await eventsAbout(victim.phone)).toEqual([]);
  const events = await eventsAbout(person.phone);
  expect(events).toMatchObject([
    { type: 'platform.changed', data: { phone: person.phone } },
    {
      type: 'chat.consent',
      data: {
        phone: person.phone,
        userId: userOf(person.token),
      },
    },
  ]);
  expect(JSON.stringify(events)).not.toContain('US.1');
});

describe('an event that the bot refuses for good', () => {
  for (const status of [400, 401, 404, 410, 422])
    it(
      `is parked after ${status}, logged, and the next one follows`,
      fullUnless(status === 400),
      async () => {
        const { phone, token } = await newPerson();
        await during({ bot: { status, match: phone } }, async () => {
          await choosePlatform(token);
          await untilParked(phone);
        });
        await choosePlatform(token, 'whatsapp');
        await eventually(async () => expect(await platformsTold(phone)).toEqual(['whatsapp']));
        const parked = logLines('outbox_parked');
        expect(parked).toMatchObject([
          {
            level: 'info',
            type: 'platform.changed',
            reason: 'refused',
          },
        ]);
        expect(JSON.stringify(parked)).not.toContain(phone);
      },
    );

  for (const status of [302, 408, 425, 429, 500, 503])
    it(
      `is none after ${status}: it is sent again`,
      fullUnless([302, 429].includes(status)),
      async () => {
        const { phone, token } = await newPerson();
        await during({ bot: { status, match: phone } }, async () => {
          await choosePlatform(token);
          await untilRetried(phone);
        });
        expect(await outboxOf(phone)).toMatchObject([{ parked_at: null, attempts: 1 }]);
        await cronAfter(minute);
        expect(await eventsAbout(phone)).toHaveLength(1);
      },
    );
});

it('keeps of a deletion that the bot refused neither number nor id, and nothing after 30 days', async () => {
  const { phone, token } = await newPerson();
  await sandbox.faults({ bot: { status: 422, match: phone } });
  await deleteAccount(token);
  await untilParked(phone);
  await eventually(() =>
    expect(logLines('outbox_parked')).toMatchObject([{ level: 'error', type: 'user.deleted' }]),
  );
  const { seq } = (await outboxOf(phone))[0]!;
  await runCron();
  const left = async () =>
    JSON.stringify((await database.execute('select * from outbox where seq = ?', [seq!])).rows);
  expect(await outboxOf(phone)).toEqual([]);
  expect(await left()).toContain('user.deleted');
  for (const part of [phone.slice(1), userOf(token)]) expect(await left()).not.toContain(part);
  await cronAfter(29 * day);
  expect(await left()).toContain('user.deleted');
  await cronAfter(2 * day);
  expect(await left()).toBe('[]');
});

it('sends a deletion first: earlier events of the number go with the account', async () => {
  const { phone, token } = await newPerson();
  await during({ bot: { status: 500 } }, async () => {
    await choosePlatform(token);
    await untilRetried(phone);
  });
  await deleteAccount(token);
  expect(await eventTypes(phone)).toEqual(['user.deleted']);
});

it.each([false, true])(
  'sends a deletion after an event on its way, once, its response lost: %s',
  async (isLost) => {
    const { phone, token } = await newPerson();
    const { arrived, release } = holdRequests(vars.BOT_WEBHOOK_URL!, phone);
    await choosePlatform(token);
    await arrived();
    await deleteAccount(token);
    release({ isLost });
    expect(await eventTypes(phone)).toEqual(['platform.changed', 'user.deleted']);
  },
);

it('holds at most five connections to the bot at once, each for 15 seconds', async () => {
  const people = await parallel(12, () => newPerson());
  await during({ bot: { status: 503 } }, async () => {
    for (const { token } of people) await choosePlatform(token);
    for (const { phone } of people) await untilRetried(phone);
  });
  const real = globalThis.fetch;
  const limits = vi.spyOn(AbortSignal, 'timeout');
  let [open, most] = [0, 0];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const url = input instanceof Request ? input.url : input.toString();
    if (url !== vars.BOT_WEBHOOK_URL) return real(input, init);
    expect(init?.redirect).toBe('manual');
    expect(limits).toHaveBeenLastCalledWith(15 * second);
    expect(init?.signal).toBe(limits.mock.results.at(-1)?.value);
    open += 1;
    most = Math.max(most, open);
    await eventually(() => expect(most, 'connections').toBeGreaterThanOrEqual(5));
    return real(input, init).finally(() => (open -= 1));
  });
  await cronAfter(minute);
  expect(most).toBe(5);
  for (const { phone } of people) expect(await eventsAbout(phone)).toHaveLength(1);
});
