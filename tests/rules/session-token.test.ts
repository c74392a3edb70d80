import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { signToken, verifyToken } from '../../worker/sign-in/session-token.ts';

const key = (kid: string) => `${kid}:${Buffer.alloc(32, kid).toString('base64url')}`;
const ring = `${key('new')} ${key('old')}`;
const claims = { userId: 'somebody', sessionId: 'a session' };
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('is verified by the ring that signed it, also by its older key, and by no other', async () => {
  const token = await signToken(key('old'), 'session+jwt', claims, inSeconds(60));
  expect(await verifyToken(ring, ['session+jwt'], token)).toEqual(claims);
  expect(await verifyToken(key('new'), ['session+jwt'], token)).toBeNull();
});

it('is verified once: later calls only check its age and type', async () => {
  const token = await signToken(ring, 'session+jwt', claims, inSeconds(60));
  const verify = vi.spyOn(crypto.subtle, 'verify');
  for (let time = 0; time < 3; time += 1) expect(await verifyToken(ring, ['session+jwt'], token)).toEqual(claims);
  expect(verify).toHaveBeenCalledTimes(1);
  expect(await verifyToken(ring, ['stream+jwt'], token)).toBeNull();
  vi.setSystemTime(Date.now() + 59_000);
  expect(await verifyToken(ring, ['session+jwt'], token)).toEqual(claims);
  vi.setSystemTime(Date.now() + 1_000);
  expect(await verifyToken(ring, ['session+jwt'], token)).toBeNull();
});

it('is refused each time when a single character differs', async () => {
  const token = await signToken(ring, 'session+jwt', claims, inSeconds(60));
  await verifyToken(ring, ['session+jwt'], token);
  const forged = token.replace(/.(?=.{20}$)/, (character) => (character === 'A' ? 'B' : 'A'));
  for (let time = 0; time < 2; time += 1) expect(await verifyToken(ring, ['session+jwt'], forged)).toBeNull();
});

it('is verified again after a thousand other tokens', async () => {
  const sign = (sessionId: string) => signToken(ring, 'session+jwt', { ...claims, sessionId }, inSeconds(60));
  const tokens = await Promise.all(Array.from({ length: 1001 }, (_, index) => sign(String(index))));
  for (const token of tokens) await verifyToken(ring, ['session+jwt'], token);
  const verify = vi.spyOn(crypto.subtle, 'verify');
  await verifyToken(ring, ['session+jwt'], tokens[1]!);
  expect(verify).not.toHaveBeenCalled();
  expect(await verifyToken(ring, ['session+jwt'], tokens[0]!)).toMatchObject({ sessionId: '0' });
  expect(verify).toHaveBeenCalledTimes(1);
});
