import { describe, expect, it, vi } from 'vitest';
import { botCall, call, send, parallel, randomAddress } from './support/api.ts';
import { buy, complete, profileOf, newSubscriber } from './support/buying.ts';
import { second, until } from './support/clock.ts';
import { holdRequests } from './support/requests.ts';
import { newContact, newPerson, userOf, requestOtp, receiveCode, verifyOtp } from './support/person.ts';
import { sandbox, deliveredEvents } from './support/sandbox.ts';
import { OpenStream } from './support/streams.ts';
import { eventsOf, postEvent, customerOf, stripe } from './support/stripe.ts';
import { database } from './support/database.ts';

const unavailable = { success: false, code: 'unavailable', message: 'Service temporarily unavailable' };

describe('without the database', () => {
  it.each([{ status: 500 }, { status: 503 }, { drop: true as const }])(
    'broken by %o every call is 503',
    async (fault) => {
      const { phone, token } = await newPerson();
      await sandbox.faults({ libsql: fault });
      const answers = [
        await requestOtp(phone),
        await call('POST', '/api/auth/verify-otp', { body: { phone, otp: '123456' } }),
        await call('GET', '/api/user/me', { token }),
        await call('GET', `/api/user/usage-stream?token=${token}`),
        await botCall('/api/bot/usage', { phone }),
        await botCall('/api/bot/contacts', { phone }),
      ];
      for (const { status, body, headers } of answers) {
        expect({ status, body }).toEqual({ status: 503, body: unavailable });
        expect(headers.get('retry-after')).toMatch(/^\d+$/);
      }
      const health = await call('GET', '/api/health');
      expect(health).toMatchObject({ status: 503, body: { status: 'degraded', checks: { database: 'failed' } } });

      await sandbox.faults({ libsql: null });
      expect((await call('GET', '/api/user/me', { token })).status).toBe(200);
      expect((await botCall('/api/bot/usage', { phone })).body).toMatchObject({ allowed: true, used: 1 });
      expect((await call('GET', '/api/health')).body).toEqual({ status: 'ok', checks: { database: 'ok' } });
    },
  );
});

it('with an expired database token every call is 503 with Retry-After', async () => {
  const { token } = await newPerson();
  const settings = { TURSO_AUTH_TOKEN: 'a-token-that-has-expired' };
  for (const response of [
    await call('GET', '/api/user/me', { token, settings }),
    await call('POST', '/api/auth/request-otp', { body: { phone: '+15550001111' }, settings }),
  ]) {
    expect({ status: response.status, body: response.body }).toEqual({ status: 503, body: unavailable });
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
  }
});

describe('while the database does not respond', () => {
  it('callers who disconnect do not delay others', async () => {
    const { token } = await newPerson();
    // The requests are held until the test ends.
    const { arrived } = holdRequests('/pipeline', '"select 1"');
    const patience = new AbortController();
    const given = parallel(60, () => send('/api/health', { signal: patience.signal }).catch(() => null));
    await arrived(60);
    patience.abort();
    expect(await given).toEqual(Array.from({ length: 60 }, () => null));
    const answers = await parallel(60, () => call('GET', '/api/user/me', { token }));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 60 }, () => 200));
  });
});

describe('when the database applies a write and its response is lost', () => {
  it('the stream gets the count as soon as the same call is repeated', async () => {
    const { phone, token } = await newPerson();
    const stream = await OpenStream.open(token);
    const post = () => botCall('/api/bot/usage', { phone }, `lost-${phone}`);
    await sandbox.faults({ libsql: { cut: true, match: phone } });
    expect((await post()).status).toBe(503);
    await sandbox.faults({ libsql: null });
    expect((await post()).body).toMatchObject({ allowed: true, used: 1 });
    await stream.until(({ counts }) => counts.at(-1) === 1);
    stream.close();
  });

  it('the stream reconnects if a plan may have changed the week', async () => {
    const { phone, token } = await newPerson();
    await botCall('/api/bot/usage', { phone, count: 2 });
    await complete((await buy(token, 'premium')).body.portalUrl);
    const [event] = await eventsOf(await customerOf(phone));
    const stream = await OpenStream.open(token);
    const { arrived, release } = holdRequests('synced_at', userOf(token));
    const posted = postEvent(event);
    await arrived();
    await sandbox.faults({ libsql: { cut: true, match: 'synced_at' } });
    release();
    expect((await posted).status).toBe(200);
    await stream.until(({ ended }) => ended);
    await sandbox.faults({ libsql: null });
    expect(await profileOf(token)).toMatchObject({
      messagesUsedThisPeriod: 0,
      metadata: { subscriptionTier: 'premium' },
    });
  });
});

describe('without WhatsApp', () => {
  it('that answers 500 the caller gets 503 and may try again at once', async () => {
    const { phone } = await newContact();
    await sandbox.faults({ whatsapp: { status: 500, match: phone.slice(1) } });
    for (let tries = 0; tries < 7; tries += 1) {
      const { status, body, headers } = await requestOtp(phone);
      expect({ status, body, wait: headers.get('retry-after') }).toEqual({ status: 503, body: unavailable, wait: '1' });
    }
    await sandbox.faults({ whatsapp: null });
    expect(await requestOtp(phone)).toMatchObject({ status: 200, body: { success: true } });
  });

  it('that never answers the caller gets 503, and one message at most is sent', async () => {
    const { phone } = await newContact();
    const match = phone.slice(1);
    await sandbox.faults({ whatsapp: { hold: true, match } });
    const limits = vi.spyOn(AbortSignal, 'timeout');
    expect((await requestOtp(phone)).status).toBe(503);
    expect(limits).toHaveBeenCalledWith(5 * second);
    expect((await requestOtp(phone)).status).toBe(429);
    expect(await sandbox.heldBy(match)).toBe(1);
  });
});

describe('without its settings', () => {
  it('the Worker refuses to serve, and does not crash', async () => {
    for (const settings of [{ SESSION_KEYS: '' }, { TURSO_DATABASE_URL: '' }, { CODE_PEPPER: 'short' }]) {
      expect(await call('GET', '/api/health', { settings })).toMatchObject({ status: 503, body: unavailable });
    }
  });
});

type Sent = { token?: string; body?: object };

/** Sends a call and disconnects while its request to another service, which contains the marks, is held. */
async function hangUp(method: string, path: string, { token, body }: Sent, ...marks: string[]): Promise<void> {
  const { arrived, release } = holdRequests(...marks);
  const abort = new AbortController();
  const headers = {
    'cf-connecting-ip': randomAddress(),
    'content-type': 'application/json',
    ...(token && { authorization: `Bearer ${token}` }),
  };
  const init = { method, headers, signal: abort.signal, ...(body && { body: JSON.stringify(body) }) };
  const response = send(path, init).catch(() => 'disconnected');
  await arrived();
  abort.abort();
  expect(await response).toBe('disconnected');
  release();
}

const statusOfMe = async (token: string) => (await call('GET', '/api/user/me', { token })).status;
const untilSignedOut = (token: string) =>
  until(
    'the end of the session',
    () => statusOfMe(token),
    (status) => status === 401,
  );

describe('a caller who disconnects', () => {
  it('is logged out all the same', async () => {
    const { token } = await newPerson();
    await hangUp('POST', '/api/auth/logout', { token }, userOf(token));
    await untilSignedOut(token);
  });

  it('ends the other session all the same', async () => {
    const { token } = await newPerson();
    const { sessions } = (await call('GET', '/api/user/sessions', { token })).body;
    await hangUp('DELETE', `/api/user/sessions/${sessions[0].id}`, { token }, userOf(token));
    await untilSignedOut(token);
  });

  it('is deleted all the same, and the bot is told', async () => {
    const { phone, token } = await newPerson();
    await hangUp('DELETE', '/api/user/me', { token }, userOf(token));
    await untilSignedOut(token);
    expect((await deliveredEvents(phone)).map(({ type }) => type)).toEqual(['user.deleted']);
  });

  it('has chosen the platform, and the bot is told', async () => {
    const { phone, token } = await newPerson();
    await hangUp('PUT', '/api/user/platform', { token, body: { platform: 'web' } }, userOf(token));
    await until(
      'the platform web',
      async () => (await call('GET', '/api/user/platform', { token })).body.platform,
      (platform) => platform === 'web',
    );
    expect((await deliveredEvents(phone)).map(({ type }) => type)).toEqual(['platform.changed']);
  });

  it('is sent the code that was made', async () => {
    const { phone } = await newContact();
    await hangUp('POST', '/api/auth/request-otp', { body: { phone } }, '/pipeline', phone);
    const messages = await until(
      'the code on the phone',
      () => sandbox.messages(phone),
      ({ length }) => length > 0,
    );
    expect(messages).toHaveLength(1);
  });

  it('has used the code up', async () => {
    const contact = await newContact();
    const { phone } = contact;
    const otp = await receiveCode(contact);
    await hangUp('POST', '/api/auth/verify-otp', { body: { phone, otp } }, '/pipeline', phone);
    const sql = 'select 1 from sessions join users on users.id = user_id where phone = ?';
    await until(
      'the session',
      async () => (await database.execute({ sql, args: [phone] })).rows,
      ({ length }) => length > 0,
    );
    expect((await verifyOtp(phone, otp)).body.code).toBe('invalid_code');
  });
});

describe('when the caller of a billing call disconnects', () => {
  it('a purchase that has begun continues and releases its lease', async () => {
    const { phone, token } = await newPerson();
    const path = '/api/billing/create-subscription-update-session';
    await hangUp('POST', path, { token, body: { tier: 'basic' } }, '/v1/customers', userOf(token));
    const sql = 'select lease_until from customers where user_id = ?';
    await until(
      'the release of the lease',
      async () => (await database.execute({ sql, args: [userOf(token)] })).rows[0]!.lease_until,
      (leaseUntil) => leaseUntil === 0,
    );
    expect(await customerOf(phone)).toMatch(/^cus_/);
    expect((await buy(token, 'basic')).status).toBe(200);
  });

  it('a deletion that has begun continues', async () => {
    const { token, customer } = await newSubscriber('basic');
    await hangUp('DELETE', '/api/user/me', { token }, '/v1/', customer);
    await untilSignedOut(token);
    expect(await stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
  });
});
