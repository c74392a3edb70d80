import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSandbox } from './test-sandbox.ts';

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
beforeAll(async () => void (sandbox = await startTestSandbox()));
afterAll(() => sandbox.close());

const issue = async (body: object = {}): Promise<string> =>
  (await sandbox.call('POST', '/phones/+15551234567/external-token', body)).json.token;
const verify = (token: string) =>
  jwtVerify(token, createRemoteJWKSet(new URL(`${sandbox.url}/issuer/jwks.json`)), {
    issuer: 'https://issuer.test',
    audience: 'solace',
    typ: 'JWT',
  });

test('a token contains the verified phone', async () => {
  const token = await issue();
  const { payload } = await verify(token);
  expect(payload).toMatchObject({ phone_number: '+15551234567', phone_number_verified: true });
  expect(payload.sub && payload.jti && payload.exp).toBeTruthy();
  expect(decodeProtectedHeader(token).kid).toBeTruthy();
});

test('no two tokens share a jti, and a person keeps one sub', async () => {
  const [one, two] = [await verify(await issue()), await verify(await issue())];
  expect(one.payload.jti).not.toBe(two.payload.jti);
  expect(one.payload.sub).toBe(two.payload.sub);
});

test('given claims replace the default ones, and a token can be expired already', async () => {
  const { payload } = await verify(await issue({ claims: { phone_number_verified: false } }));
  expect(payload.phone_number_verified).toBe(false);
  await expect(verify(await issue({ expiresIn: -60 }))).rejects.toMatchObject({ code: 'ERR_JWT_EXPIRED' });
});

test('the key survives a restart', async () => {
  const token = await issue();
  await sandbox.restart();
  await expect(verify(token)).resolves.toBeTruthy();
});
