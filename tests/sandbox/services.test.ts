import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openStore } from './store.ts';
import { startTestSandbox } from './test-sandbox.ts';

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

test('a transaction that fails leaves no trace', () => {
  const store = newStore();
  store.put('old', 'a', 1);
  const fail = () => {
    store.put('old', 'b', 2);
    store.put('new', 'c', 3);
    throw new Error('rolled back');
  };
  expect(() => store.transaction(() => store.transaction(fail))).toThrow('rolled back');
  expect([store.list('old'), store.list('new'), store.get('new', 'c')]).toEqual([[1], [], undefined]);
});

test('no reader can change what the next one gets', () => {
  const store = newStore();
  store.put('notes', 'a', { tags: ['one'] });
  const [note] = store.list<{ tags: string[] }>('notes');
  expect(() => note!.tags.push('two')).toThrow(TypeError);
  expect(store.get('notes', 'a')).toEqual({ tags: ['one'] });
});

const sandbox = await startTestSandbox();
afterAll(() => sandbox.close());

const issue = async (body: object = {}): Promise<string> =>
  (await sandbox.call('POST', '/phones/+15551234567/external-token', body)).json.token;
const verify = (token: string) =>
  jwtVerify(token, createRemoteJWKSet(new URL(`${sandbox.url}/issuer/jwks.json`)), {
    issuer: 'https://issuer.test',
    audience: 'solace',
    typ: 'JWT',
  });

test('a token contains the verified phone; no two share a jti, and a person keeps one sub and the key', async () => {
  const token = await issue();
  const { payload } = await verify(token);
  expect(payload).toMatchObject({ phone_number: '+15551234567', phone_number_verified: true });
  expect(payload.sub && payload.jti && payload.exp && decodeProtectedHeader(token).kid).toBeTruthy();
  await sandbox.restart();
  await expect(verify(token)).resolves.toBeTruthy();
  const { payload: next } = await verify(await issue());
  expect(next.jti).not.toBe(payload.jti);
  expect(next.sub).toBe(payload.sub);
});

test('given claims replace the default ones, and a token can be expired already', async () => {
  const { payload } = await verify(await issue({ claims: { phone_number_verified: false } }));
  expect(payload.phone_number_verified).toBe(false);
  await expect(verify(await issue({ expiresIn: -60 }))).rejects.toMatchObject({ code: 'ERR_JWT_EXPIRED' });
});
