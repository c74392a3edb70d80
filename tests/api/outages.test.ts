import { describe, expect, it, vi } from 'vitest';
import { botCall, call, parallel, send } from './support/api.ts';
import { checkOut, newSubscriber } from './support/buying.ts';
import { advanceClock, eventually, second } from './support/clock.ts';
import { requestOtp, verifyOtp } from './support/codes.ts';
import { eventTypes, newContact, post } from './support/contacts.ts';
import { getMe, newPerson, profileOf, userOf } from './support/person.ts';
import {
  expectUnavailable,
  holdRequests,
  logLines,
  logTexts,
  startHeld,
} from './support/requests.ts';
import { during, sandbox } from './support/sandbox.ts';
import { OpenStream } from './support/streams.ts';
import { eventsOf, postEvent } from './support/stripe-events.ts';
import { customerOf, stripe } from './support/stripe.ts';

const statusOfMe = async (token: string) => (await getMe(token)).status;

describe('without the database', () => {
  // It refuses an expired token with 401.
  const faults = [{ status: 401 }, { drop: true as const }, { code: 'BLOCKED' }];
  const alike = [{ status: 500 }, { status: 503 }, { code: 'SQLITE_NOMEM' }];
  it.each(faults)('broken by %o every call is 503', unavailableBy);
  it.each(alike)('broken by %o every call is 503, too', { tags: 'full' }, unavailableBy);

  async function unavailableBy(fault: (typeof faults)[number] | (typeof alike)[number]) {
    const { phone, token, customer } = await newSubscriber('basic');
    const [event] = await eventsOf(customer);
    await during({ libsql: fault }, async () => {
      const answers = [
        await requestOtp(phone),
        await verifyOtp(phone, '123456'),
        await getMe(token),
        await call('GET', `/api/user/usage-stream?token=${token}`),
        await post(phone),
        await botCall('/api/bot/contacts', { phone }),
        await postEvent(event),
      ];
      answers.forEach(expectUnavailable);
      const health = await call('GET', '/api/health');
      expect(health).toMatchObject({
        status: 503,
        body: { status: 'degraded', checks: { database: 'failed' } },
      });
    });
    expect(await statusOfMe(token)).toBe(200);
    expect((await post(phone)).body).toMatchObject({
      allowed: true,
      used: 1,
    });
    expect((await postEvent(event)).status).toBe(200);
    expect((await call('GET', '/api/health')).body).toEqual({
      status: 'ok',
      checks: { database: 'ok' },
    });
  }

  it('callers who disconnect do not delay others', async () => {
    const { token } = await newPerson();
    // The requests are held until the test ends.
    const { arrived } = holdRequests('/pipeline', '"health"');
    const patience = new AbortController();
    const given = parallel(60, () =>
      send('/api/health', { signal: patience.signal }).catch(() => null),
    );
    await arrived(60);
    patience.abort();
    expect(await given).toEqual(Array.from({ length: 60 }, () => null));
    expect(await parallel(60, () => statusOfMe(token))).toEqual(
      Array.from({ length: 60 }, () => 200),
    );
  });
});

describe('while the database refuses inside its 200', () => {
  const codes = [
    'BLOCKED',
    'SQLITE_FULL',
    'SQLITE_NOMEM',
    'SQLITE_READONLY',
    'SQLITE_IOERR',
    'SQLITE_CORRUPT',
  ];
  it.each(codes)(
    'writes with %s, they are 503, the log names the reason, and reads go on',
    async (code) => {
      const { phone, token, customer } = await newSubscriber('basic');
      const [event] = await eventsOf(customer);
      const platform = { token, body: { platform: 'web' } };
      await during({ libsql: { code, writes: true } }, async () => {
        const answers = [
          await requestOtp(phone),
          await verifyOtp(phone, '123456'),
          await call('PUT', '/api/user/platform', platform),
          await post(phone),
          await botCall('/api/bot/contacts', { phone }),
          await postEvent({ ...event, id: `evt_${customer}_${code}` }),
        ];
        answers.forEach(expectUnavailable);
        expect(await statusOfMe(token)).toBe(200);
        const health = await call('GET', '/api/health');
        expect(health).toMatchObject({
          status: 503,
          body: { status: 'degraded' },
        });
        expect(health.headers.get('retry-after')).toMatch(/^\d+$/);
      });
      const reason = expect.stringMatching(/\w+ .+\.$/);
      expect(logLines('database_refused')).toContainEqual(
        expect.objectContaining({ level: 'error', code, reason }),
      );
      expect(logLines('request_failed')).toEqual([]);
      expect((await post(phone)).body).toMatchObject({
        allowed: true,
        used: 1,
      });
    },
  );

  it.each(['SQLITE_BUSY', 'STREAM_EXPIRED', 'SERVER_ERROR', 'SOMETHING_NEW'])(
    'with %s, which a later call may not meet, the call is 503',
    async (code) => {
      const { phone } = await newPerson();
      expectUnavailable(
        await during(
          {
            libsql: {
              code,
              match: phone,
            },
          },
          () => post(phone),
        ),
      );
    },
  );

  it.each(['SQLITE_CONSTRAINT', 'SQL_PARSE_ERROR', 'SQLITE_UNKNOWN'])(
    'with %s, which is a defect of ours, the call is 500 and an alarm',
    async (code) => {
      const { phone } = await newPerson();
      const failed = await during(
        {
          libsql: {
            code,
            match: phone,
          },
        },
        () => post(phone),
      );
      expect(failed).toMatchObject({
        status: 500,
        body: { code: 'internal' },
      });
      expect(logLines('request_failed')).toMatchObject([{ unexpected: { code } }]);
    },
  );
});

describe('when the database applies a write and its response is lost', () => {
  it('the stream gets the count as soon as the same call is repeated', async () => {
    const { phone, token } = await newPerson();
    const stream = await OpenStream.open(token);
    const count = () => botCall('/api/bot/usage', { phone }, `lost-${phone}`);
    expect(
      (
        await during(
          {
            libsql: {
              cut: true,
              match: phone,
            },
          },
          count,
        )
      ).status,
    ).toBe(503);
    expect((await count()).body).toMatchObject({
      allowed: true,
      used: 1,
    });
    await stream.showing(1);
  });

  it('the stream reconnects if a plan may have changed the week', async () => {
    const { phone, token } = await newPerson();
    await post(phone, 2);
    await checkOut(token, 'premium');
    const [event] = await eventsOf(await customerOf(phone));
    const stream = await OpenStream.open(token);
    const posted = await startHeld(() => postEvent(event), 'synced_at', userOf(token));
    await during(
      {
        libsql: {
          cut: true,
          match: 'synced_at',
        },
      },
      async () => {
        expect((await posted.finish()).status).toBe(200);
        await stream.until(({ ended }) => ended);
      },
    );
    const metadata = { subscriptionTier: 'premium' };
    expect(await profileOf(token)).toMatchObject({
      messagesUsedThisPeriod: 0,
      metadata,
    });
  });
});

it('logs work after the response that fails, without the parameters of its queries', async () => {
  const { token } = await newPerson();
  const { arrived, release } = holdRequests('update \\"outbox\\" set', userOf(token));
  const { headers } = await call('PUT', '/api/user/platform', {
    token,
    body: { platform: 'web' },
  });
  await arrived();
  release({ isLost: true });
  const failed = {
    requestId: headers.get('x-request-id'),
    error: 'Error',
  };
  await eventually(async () => expect(logLines('background_failed')).toMatchObject([failed]));
  expect(logTexts().join()).not.toContain(userOf(token));
});

it('responds 503 while WhatsApp never answers, and sends one message at most', async () => {
  advanceClock(0);
  const { phone } = await newContact();
  const match = phone.slice(1);
  await sandbox.faults({ whatsapp: { hold: true, match } });
  const limits = vi.spyOn(AbortSignal, 'timeout');
  expect((await requestOtp(phone)).status).toBe(503);
  expect(limits).toHaveBeenCalledWith(5 * second);
  expect((await requestOtp(phone)).status).toBe(429);
  expect(await sandbox.heldBy(match)).toBe(1);
});

it.each([
  ['a dead token', { status: 401, code: 190 }],
  ['a missing permission', { status: 400, code: 200 }],
  ['a forbidden account', { status: 403 }],
])('says that codes cannot be sent with %s, and rings at once', async (_, fault) => {
  const { phone } = await newContact();
  const match = phone.slice(1);
  const refused = await during(
    {
      whatsapp: {
        ...fault,
        match,
      },
    },
    () => requestOtp(phone),
  );
  const message = 'Codes cannot be sent at the moment. Please write to our support.';
  expect(refused).toMatchObject({
    status: 503,
    body: { code: 'codes_unavailable', message },
  });
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(logLines('whatsapp_forbidden')).toMatchObject([{ level: 'error', status: fault.status }]);
  expect((await requestOtp(phone)).status).toBe(200);
});

/** Makes a call and disconnects while its request to another service, which contains the marks, is held. */
async function hangUp(
  method: string,
  path: string,
  sent: { token?: string; body?: object },
  ...marks: string[]
) {
  const { arrived, release } = holdRequests(...marks);
  const abort = new AbortController();
  const response = call(method, path, {
    ...sent,
    signal: abort.signal,
  }).catch(() => 'disconnected');
  await arrived();
  abort.abort();
  expect(await response).toBe('disconnected');
  release();
}

describe('a caller who disconnects', () => {
  it('is logged out all the same', async () => {
    const { token } = await newPerson();
    await hangUp('POST', '/api/auth/logout', { token }, userOf(token));
    await eventually(async () => expect(await statusOfMe(token)).toBe(401));
  });

  it('is deleted all the same, at Stripe too, and the bot is told', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    await hangUp('DELETE', '/api/user/me', { token }, '/v1/', customer);
    await eventually(async () => expect(await statusOfMe(token)).toBe(401));
    expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
    expect(await eventTypes(phone)).toContain('user.deleted');
  });

  it('is sent the code that was made', async () => {
    const { phone } = await newContact();
    await hangUp('POST', '/api/auth/request-otp', { body: { phone } }, '/pipeline', phone);
    await eventually(async () => expect(await sandbox.messages(phone)).toHaveLength(1));
  });
});
