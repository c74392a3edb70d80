import { describe, expect, it } from 'vitest';
import { call, randomAddress, send } from './support/api.ts';
import { buy, newSubscriber } from './support/buying.ts';
import { database } from './support/database.ts';
import { holdRequests } from './support/requests.ts';
import { newContact, newPerson, receiveCode, userOf, verifyOtp } from './support/person.ts';
import { deliveredEvents, sandbox } from './support/sandbox.ts';
import { customerOf, stripe } from './support/stripe.ts';
import { until } from './support/clock.ts';

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
