import { createClient } from '@libsql/client/web';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { secrets, startTestSandbox } from './test-sandbox.ts';

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
beforeAll(async () => void (sandbox = await startTestSandbox()));
afterAll(() => sandbox.close());
beforeEach(async () => {
  await sandbox.call('PUT', '/faults', { libsql: null, stripe: null, whatsapp: null, bot: null, push: null });
  await sandbox.call('DELETE', '/stats');
});
afterEach(() => vi.restoreAllMocks());

const query = () =>
  createClient({ url: `${sandbox.url}/libsql/`, authToken: secrets.TURSO_AUTH_TOKEN }).execute('SELECT 1');
const break_ = (faults: object) => sandbox.call('PUT', '/faults', faults);

test('a broken service responds with its status, and works again afterwards', async () => {
  await break_({ libsql: { status: 503 } });
  await expect(query()).rejects.toMatchObject({ code: 'SERVER_ERROR' });
  await break_({ libsql: null });
  expect((await query()).rows).toHaveLength(1);
});

test('a dropped call gets no response', async () => {
  await break_({ libsql: { drop: true } });
  await expect(query()).rejects.toThrow('fetch failed');
});

test('a cut call takes effect, and its response is lost', async () => {
  await break_({ libsql: { cut: true } });
  const client = createClient({ url: `${sandbox.url}/libsql/`, authToken: secrets.TURSO_AUTH_TOKEN });
  await expect(client.execute('CREATE TABLE done (id)')).rejects.toThrow('fetch failed');
  await break_({ libsql: null });
  expect((await client.execute('SELECT * FROM done')).rows).toEqual([]);
});

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
  expect((await sandbox.call('GET', '/faults')).status).toBe(200);
  expect(isDone).not.toHaveBeenCalled();
  end();
  await slow;
});

test('each service fails in its own format', async () => {
  await break_({ whatsapp: { status: 500 }, bot: { status: 500 }, stripe: { status: 500 } });
  expect(await sandbox.call('POST', '/whatsapp/v23.0/1/messages')).toMatchObject({
    status: 500,
    json: { error: { code: 131_000 } },
  });
  expect(await sandbox.call('POST', '/bot/webhook')).toMatchObject({ status: 500 });
  expect(await sandbox.call('GET', '/v1/customers')).toMatchObject({
    status: 500,
    json: { error: { type: 'api_error' } },
  });
});

test('control calls neither break nor count', async () => {
  await break_({ libsql: { drop: true }, bot: { drop: true }, whatsapp: { drop: true }, stripe: { drop: true } });
  expect(await sandbox.call('GET', '/bot/events')).toMatchObject({ status: 200, json: [] });
  expect(await sandbox.call('GET', '/phones/+15551234567/messages')).toMatchObject({ status: 200, json: [] });
  expect((await sandbox.call('GET', '/stats')).json).toEqual({ libsql: 0, stripe: 0, whatsapp: 0, bot: 0, push: 0 });
});

test('requests are counted, failed ones too', async () => {
  await query();
  await break_({ libsql: { status: 500 } });
  await query().catch(() => undefined);
  expect((await sandbox.call('GET', '/stats')).json).toMatchObject({ libsql: 2, bot: 0 });
  await sandbox.call('DELETE', '/stats');
  expect((await sandbox.call('GET', '/stats')).json).toMatchObject({ libsql: 0 });
});

const auth = { authorization: `Bearer ${secrets.STRIPE_SECRET_KEY}` };
const createCustomer = (key: string) =>
  sandbox.call('POST', '/v1/customers', 'name=Ada', { ...auth, 'idempotency-key': key });

test('a path limits a fault to the requests below it', async () => {
  await break_({ stripe: { status: 503, path: '/v1/customers' } });
  expect((await sandbox.call('GET', '/v1/customers/cus_1', undefined, auth)).status).toBe(503);
  expect((await sandbox.call('GET', '/v1/products', undefined, auth)).status).toBe(200);
});

const post = (phone: string) =>
  sandbox.call('POST', '/whatsapp/v23.0/1/messages', { to: phone }).then(({ status }) => status);

test('a match limits a fault to the requests that contain it', async () => {
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
  const client = createClient({ url: `${sandbox.url}/libsql/`, authToken: secrets.TURSO_AUTH_TOKEN });
  const isDone = vi.fn();
  const held = client.execute("SELECT 'one'").then(isDone);
  await vi.waitFor(
    async () => expect((await sandbox.call('GET', '/faults/held')).json).toMatchObject([{ match: 'one', held: 1 }]),
    { timeout: 30_000 },
  );
  await client.execute("SELECT 'two'");
  expect(isDone).not.toHaveBeenCalled();
  await break_({ libsql: { match: 'one' } });
  await held;
});

test('a redirect contains its address', async () => {
  await break_({ bot: { status: 302, location: 'http://127.0.0.1:9/elsewhere' } });
  const response = await fetch(`${sandbox.url}/bot/webhook`, { method: 'POST', redirect: 'manual' });
  expect([response.status, response.headers.get('location')]).toEqual([302, 'http://127.0.0.1:9/elsewhere']);
});

test('a stored failure is replayed under its key after the fault is removed', async () => {
  await break_({ stripe: { status: 500, remember: true } });
  expect(await createCustomer('remembered')).toMatchObject({ status: 500, json: { error: { type: 'api_error' } } });
  await break_({ stripe: null });
  expect((await createCustomer('remembered')).status).toBe(500);
  expect((await createCustomer('another')).status).toBe(200);
});

test('a failure that is not stored leaves its key free', async () => {
  await break_({ stripe: { status: 500 } });
  expect((await createCustomer('forgotten')).status).toBe(500);
  await break_({ stripe: null });
  expect((await createCustomer('forgotten')).status).toBe(200);
});

test('a cut request is repeated under its key with the response that was lost', async () => {
  await break_({ stripe: { cut: true } });
  await expect(createCustomer('cut')).rejects.toThrow('fetch failed');
  await break_({ stripe: null });
  const { json } = await createCustomer('cut');
  expect((await sandbox.call('GET', `/v1/customers/${json.id}`, undefined, auth)).status).toBe(200);
});

test('a key is in use while its slow request runs', async () => {
  await break_({ stripe: { delayMs: 54_321 } });
  const delay = replaceTimer(54_321);
  const first = createCustomer('slow');
  const end = await delay;
  expect(await createCustomer('slow')).toMatchObject({
    status: 409,
    json: { error: { code: 'idempotency_key_in_use' } },
  });
  end();
  expect((await first).status).toBe(200);
});

test('every customer is unknown, with the error of Stripe in each call, but new ones can be created', async () => {
  const { json: ada } = await createCustomer('known');
  await break_({ stripe: { unknownCustomer: true } });
  const missing = (param: string) => ({ error: { code: 'resource_missing', param } });
  const ask = (method: string, path: string, form?: string) => sandbox.call(method, path, form, auth);
  expect(await ask('GET', `/v1/customers/${ada.id}`)).toMatchObject({ status: 404, json: missing('id') });
  expect(await ask('DELETE', `/v1/customers/${ada.id}`)).toMatchObject({ status: 404, json: missing('id') });
  const list = `/v1/subscriptions?customer=${ada.id}&status=all`;
  expect(await ask('GET', list)).toMatchObject({ status: 400, json: missing('customer') });
  const portal = await ask('POST', '/v1/billing_portal/sessions', `customer=${ada.id}`);
  expect(portal).toMatchObject({ status: 400, json: missing('customer') });
  expect((await ask('GET', '/v1/customers')).json.data).toEqual([]);
  expect((await createCustomer('new')).status).toBe(200);
  await break_({ stripe: null });
  expect((await ask('GET', `/v1/customers/${ada.id}`)).status).toBe(200);
});

test.each([
  [{ nobody: null }],
  [{ libsql: { status: 99 } }],
  [{ libsql: { drop: false } }],
  [{ libsql: { cut: 1 } }],
  [{ libsql: { speed: 1 } }],
  [{ libsql: { remember: true } }],
  [{ bot: { unknownCustomer: true } }],
  [{ bot: { location: 'http://127.0.0.1:9' } }],
  [{ stripe: { status: 200, remember: true } }],
  [{ stripe: { path: 1 } }],
  [{ bot: { match: 1 } }],
  [{ libsql: { hold: 1 } }],
  ['no'],
])('refuses %o', async (faults) => {
  expect((await break_(faults as object)).status).toBe(400);
});
