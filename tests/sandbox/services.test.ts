import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, expect, onTestFinished, test, afterEach, beforeEach, vi } from 'vitest';
import { createClient } from '@libsql/client/web';
import { openStore } from './stripe/store.ts';
import { startTestSandbox, secrets } from './test-sandbox.ts';

function newStore() {
  const store = openStore(':memory:');
  onTestFinished(() => store.close());
  return store;
}

test('lists documents in the order of their first insertion, as they are now', () => {
  const store = newStore();
  store.put('notes', 'a', { text: 'one' });
  store.put('notes', 'b', { text: 'two' });
  store.put('notes', 'a', { text: 'three' });
  expect(store.list('notes')).toEqual([{ text: 'three' }, { text: 'two' }]);
  store.delete('notes', 'a');
  store.put('notes', 'a', { text: 'four' });
  expect(store.list('notes')).toEqual([{ text: 'two' }, { text: 'four' }]);
  expect(store.get('notes', 'a')).toEqual({ text: 'four' });
});

test('no reader can change what the next one gets', () => {
  const store = newStore();
  store.put('notes', 'a', { tags: ['one'] });
  const [note] = store.list<{ tags: string[] }>('notes');
  expect(() => note!.tags.push('two')).toThrow(TypeError);
  expect(store.get('notes', 'a')).toEqual({ tags: ['one'] });
});

test('the issuer keeps its key and the sub of a person across a restart; no two tokens share a jti', async () => {
  const sandbox = await startTestSandbox();
  onTestFinished(() => sandbox.close());
  const payloadOf = async (token: string) => {
    return (await jwtVerify(token, createRemoteJWKSet(new URL(`${sandbox.url}/issuer/jwks.json`))))
      .payload;
  };
  const issue = () => sandbox.call('POST', '/phones/+15551234567/external-token', {});
  const { token } = (await issue()).json;
  await sandbox.restart();
  const [one, two] = [await payloadOf(token), await payloadOf((await issue()).json.token)];
  expect(two.sub).toBe(one.sub);
  expect(two.jti).not.toBe(one.jti);
});

const sandbox = await startTestSandbox();
afterAll(() => sandbox.close());
const break_ = (faults: object) => sandbox.call('PUT', '/faults', faults);
const client = createClient({
  url: `${sandbox.url}/libsql/`,
  authToken: secrets.TURSO_AUTH_TOKEN,
});
const query = () => client.execute('SELECT 1');

beforeEach(async () => {
  await break_({
    libsql: null,
    stripe: null,
    whatsapp: null,
    bot: null,
    push: null,
  });
  await sandbox.call('DELETE', '/stats');
});
afterEach(() => vi.restoreAllMocks());

/** Replaces the timers of this duration; resolves to the function that ends the first one. */
function replaceTimer(ms: number): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<() => void>();
  const real = globalThis.setTimeout;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, duration?: number) => {
    if (duration !== ms) return real(work, duration);
    resolve(work);
    return undefined;
  }) as unknown as typeof setTimeout);
  return promise;
}

test('a slow service responds after its delay', async () => {
  await break_({ libsql: { delayMs: 54_321 } });
  const delay = replaceTimer(54_321);
  const isDone = vi.fn();
  const slow = query().then(isDone);
  const end = await delay;
  expect((await sandbox.call('GET', '/stats')).json.libsql).toBe(1);
  expect(isDone).not.toHaveBeenCalled();
  end();
  await slow;
});

test.each([
  ['POST', '/whatsapp/v23.0/1/messages', { error: { code: 131_000 } }],
  ['POST', '/bot/webhook', { error: 'Out of order' }],
  ['GET', '/v1/customers', { error: { type: 'api_error' } }],
])('each service fails in its own format: %s %s', async (method, path, json) => {
  await break_({
    whatsapp: { status: 500 },
    bot: { status: 500 },
    stripe: { status: 500 },
  });
  expect(await sandbox.call(method, path)).toMatchObject({
    status: 500,
    json,
  });
});

test('a service refuses for good in its own format, with its own code', async () => {
  await break_({
    stripe: { status: 400, code: 'parameter_invalid' },
    whatsapp: { status: 401, code: 190 },
  });
  const stripe = await sandbox.call('POST', '/v1/checkout/sessions');
  const refused = {
    type: 'invalid_request_error',
    code: 'parameter_invalid',
  };
  expect(stripe).toMatchObject({ status: 400, json: { error: refused } });
  expect(stripe.headers.get('request-id')).toMatch(/^req_/);
  const whatsapp = await sandbox.call('POST', '/whatsapp/v23.0/1/messages');
  expect(whatsapp).toMatchObject({
    status: 401,
    json: { error: { code: 190 } },
  });
});

test('the database reports a refusal inside its 200, of writes alone or of everything', async () => {
  await client.execute('CREATE TABLE IF NOT EXISTS notes (text)');
  const write = "INSERT INTO notes VALUES ('one')";
  await break_({ libsql: { code: 'BLOCKED', writes: true } });
  await expect(client.execute(write)).rejects.toMatchObject({ code: 'BLOCKED' });
  await expect(client.batch([write], 'write')).rejects.toMatchObject({ code: 'BLOCKED' });
  expect((await query()).rows).toHaveLength(1);
  await break_({ libsql: { code: 'SQLITE_NOMEM' } });
  await expect(query()).rejects.toMatchObject({ code: 'SQLITE_NOMEM' });
});

test('requests are counted, failed ones too; control calls neither break nor count', async () => {
  const drop = { drop: true };
  const none = {
    libsql: 0,
    stripe: 0,
    whatsapp: 0,
    bot: 0,
    push: 0,
    mail: 0,
  };
  await query();
  await break_({
    libsql: drop,
    bot: drop,
    whatsapp: drop,
    stripe: drop,
  });
  await query().catch(() => undefined);
  expect(await sandbox.call('GET', '/bot/events')).toMatchObject({
    status: 200,
    json: [],
  });
  expect(await sandbox.messagesOf('+15551234567')).toEqual([]);
  expect((await sandbox.call('GET', '/stats')).json).toEqual({
    ...none,
    libsql: 2,
  });
  await sandbox.call('DELETE', '/stats');
  expect((await sandbox.call('GET', '/stats')).json).toEqual(none);
});

const auth = { authorization: `Bearer ${secrets.STRIPE_SECRET_KEY}` };
const ask = (method: string, path: string, form?: string) => sandbox.call(method, path, form, auth);
const createCustomer = (key: string) =>
  sandbox.call('POST', '/v1/customers', 'name=Ada', {
    ...auth,
    'idempotency-key': key,
  });

test('a path limits a fault to the requests below it, and a match to those that contain it', async () => {
  await break_({ stripe: { status: 503, path: '/v1/customers' } });
  expect((await ask('GET', '/v1/customers/cus_1')).status).toBe(503);
  expect((await ask('GET', '/v1/products')).status).toBe(200);
  const post = async (to: string) =>
    (await sandbox.call('POST', '/whatsapp/v23.0/1/messages', { to })).status;
  await break_({ whatsapp: { status: 500 } });
  await break_({ whatsapp: { status: 503, match: '15550000001' } });
  expect([await post('15550000001'), await post('15550000002')]).toEqual([503, 500]);
  await break_({ whatsapp: { match: '15550000001' } });
  expect(await post('15550000001')).toBe(500);
  await break_({ whatsapp: { status: 503, match: '15550000001' } });
  await break_({ whatsapp: null });
  expect(await post('15550000001')).toBe(401);
});

test('a held request waits until its fault is removed', async () => {
  await break_({ libsql: { hold: true, match: 'one' } });
  const isDone = vi.fn();
  const held = client.execute("SELECT 'one'").then(isDone);
  const faults = async () => (await sandbox.call('GET', '/faults/held')).json;
  await expect
    .poll(faults, { timeout: 30_000 })
    .toEqual([{ service: 'libsql', match: 'one', held: 1 }]);
  await client.execute("SELECT 'two'");
  expect(isDone).not.toHaveBeenCalled();
  await break_({ libsql: { match: 'one' } });
  await held;
});

test('a redirect contains its address', async () => {
  await break_({
    bot: {
      status: 302,
      location: 'http://127.0.0.1:9/elsewhere',
    },
  });
  const response = await fetch(`${sandbox.url}/bot/webhook`, {
    method: 'POST',
    redirect: 'manual',
  });
  expect([response.status, response.headers.get('location')]).toEqual([
    302,
    'http://127.0.0.1:9/elsewhere',
  ]);
});

test.each([
  ['that is stored is replayed', { status: 500, remember: true }, 500],
  ['that is not stored leaves the key free', { status: 500 }, 200],
])('after the fault, a failure %s', async (_, fault, afterwards) => {
  const key = `failed with ${JSON.stringify(fault)}`;
  await break_({ stripe: fault });
  expect(await createCustomer(key)).toMatchObject({
    status: 500,
    json: { error: { type: 'api_error' } },
  });
  await break_({ stripe: null });
  expect((await createCustomer(key)).status).toBe(afterwards);
  expect((await createCustomer(`not ${key}`)).status).toBe(200);
});

test('a cut request is repeated under its key with the response that was lost', async () => {
  await break_({ stripe: { cut: true } });
  await expect(createCustomer('cut')).rejects.toThrow('fetch failed');
  await break_({ stripe: null });
  const { json } = await createCustomer('cut');
  expect((await ask('GET', `/v1/customers/${json.id}`)).status).toBe(200);
});

test('a key is in use while its slow request runs', async () => {
  await break_({ stripe: { delayMs: 54_321 } });
  const delay = replaceTimer(54_321);
  const first = createCustomer('slow');
  const end = await delay;
  const inUse = {
    status: 409,
    json: { error: { code: 'idempotency_key_in_use' } },
  };
  expect(await createCustomer('slow')).toMatchObject(inUse);
  end();
  expect((await first).status).toBe(200);
});

test('every customer is unknown, with the error of Stripe in each call, but new ones can be created', async () => {
  const { id } = (await createCustomer('known')).json;
  await break_({ stripe: { unknownCustomer: true } });
  const missing = (status: number, param: string) => ({
    status,
    json: { error: { code: 'resource_missing', param } },
  });
  expect(await ask('GET', `/v1/customers/${id}`)).toMatchObject(missing(404, 'id'));
  expect(await ask('DELETE', `/v1/customers/${id}`)).toMatchObject(missing(404, 'id'));
  expect(await ask('GET', `/v1/subscriptions?customer=${id}&status=all`)).toMatchObject(
    missing(400, 'customer'),
  );
  expect(await ask('POST', '/v1/billing_portal/sessions', `customer=${id}`)).toMatchObject(
    missing(400, 'customer'),
  );
  expect((await ask('GET', '/v1/customers')).json.data).toEqual([]);
  expect((await createCustomer('new')).status).toBe(200);
  await break_({ stripe: null });
  expect((await ask('GET', `/v1/customers/${id}`)).status).toBe(200);
});

test.each([
  ['nobody', null],
  ['libsql', { status: 99 }],
  ['libsql', { remember: true }],
  ['bot', { unknownCustomer: true }],
  ['stripe', { code: 'BLOCKED', writes: true }],
  ['bot', { location: 'http://127.0.0.1:9' }],
  ['stripe', { status: 200, remember: true }],
])('refuses a fault of %s that is %o', async (service, fault) => {
  expect((await break_({ [service]: fault })).status).toBe(400);
});
