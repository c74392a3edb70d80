import { createRemoteJWKSet, jwtVerify } from 'jose';
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

test('no reader can change what the next one gets', () => {
  const store = newStore();
  store.put('notes', 'a', { tags: ['one'] });
  const [note] = store.list<{ tags: string[] }>('notes');
  expect(() => note!.tags.push('two')).toThrow(TypeError);
  expect(store.get('notes', 'a')).toEqual({ tags: ['one'] });
});

const sandbox = await startTestSandbox();
afterAll(() => sandbox.close());

test('the issuer keeps its key and the sub of a person across a restart; no two tokens share a jti', async () => {
  const payloadOf = async (token: string) => {
    const keys = createRemoteJWKSet(new URL(`${sandbox.url}/issuer/jwks.json`));
    return (await jwtVerify(token, keys)).payload;
  };
  const issue = () => sandbox.call('POST', '/phones/+15551234567/external-token', {});
  const { token } = (await issue()).json;
  await sandbox.restart();
  const [one, two] = [await payloadOf(token), await payloadOf((await issue()).json.token)];
  expect(two.sub).toBe(one.sub);
  expect(two.jti).not.toBe(one.jti);
});
