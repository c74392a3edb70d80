import { createClient } from '@libsql/client/web';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { secrets, trySandbox } from './try-sandbox.ts';

let sandbox: Awaited<ReturnType<typeof trySandbox>>;
beforeAll(async () => void (sandbox = await trySandbox()));
afterAll(() => sandbox.close());
beforeEach(async () => {
  await sandbox.call('PUT', '/faults', { libsql: null, stripe: null, whatsapp: null, bot: null });
  await sandbox.call('DELETE', '/stats');
});

const query = () =>
  createClient({ url: `${sandbox.url}/libsql/`, authToken: secrets.TURSO_AUTH_TOKEN }).execute('SELECT 1');
const break_ = (faults: object) => sandbox.call('PUT', '/faults', faults);

test('a broken service answers its status, and works again when mended', async () => {
  await break_({ libsql: { status: 503 } });
  await expect(query()).rejects.toMatchObject({ code: 'SERVER_ERROR' });
  await break_({ libsql: null });
  expect((await query()).rows).toHaveLength(1);
});

test('a dropped call gets no answer', async () => {
  await break_({ libsql: { drop: true } });
  await expect(query()).rejects.toThrow('fetch failed');
});

test('a cut call has done its work, and nobody hears of it', async () => {
  await break_({ libsql: { cut: true } });
  const client = createClient({ url: `${sandbox.url}/libsql/`, authToken: secrets.TURSO_AUTH_TOKEN });
  await expect(client.execute('CREATE TABLE done (id)')).rejects.toThrow('fetch failed');
  await break_({ libsql: null });
  expect((await client.execute('SELECT * FROM done')).rows).toEqual([]);
});

test('a slow service still answers', async () => {
  await break_({ libsql: { delayMs: 200 } });
  const start = performance.now();
  await query();
  expect(performance.now() - start).toBeGreaterThan(190);
});

test('each service breaks in its own words', async () => {
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
  expect((await sandbox.call('GET', '/stats')).json).toEqual({ libsql: 0, stripe: 0, whatsapp: 0, bot: 0 });
});

test('requests are counted, failed ones too', async () => {
  await query();
  await break_({ libsql: { status: 500 } });
  await query().catch(() => undefined);
  expect((await sandbox.call('GET', '/stats')).json).toMatchObject({ libsql: 2, bot: 0 });
  await sandbox.call('DELETE', '/stats');
  expect((await sandbox.call('GET', '/stats')).json).toMatchObject({ libsql: 0 });
});

test.each([
  [{ nobody: null }],
  [{ libsql: { status: 99 } }],
  [{ libsql: { drop: false } }],
  [{ libsql: { cut: 1 } }],
  [{ libsql: { speed: 1 } }],
  ['no'],
])('refuses %o', async (faults) => {
  expect((await break_(faults as object)).status).toBe(400);
});
