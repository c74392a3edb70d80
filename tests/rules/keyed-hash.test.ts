import { createHmac, hkdfSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { keyedHash, keyedHashes, type HashPurpose } from '../../worker/lib/crypto.ts';

const secret = 'a pepper of more than thirty-two characters';
const purposes: HashPurpose[] = ['code', 'trial', 'trial-link', 'phone', 'log'];

it('is HMAC-SHA256 under a key that HKDF-SHA256 derives for the purpose', async () => {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'code', 32));
  const expected = createHmac('sha256', key).update('+15551234567|123456').digest('hex');
  expect(await keyedHash(secret, 'code', '+15551234567', '123456')).toBe(expected);
});

it('gives the same parts another hash for each purpose, and none under the secret itself', async () => {
  const hashes = await Promise.all(purposes.map((purpose) => keyedHash(secret, purpose, 'the same')));
  expect(new Set(hashes).size).toBe(purposes.length);
  for (const text of ['the same', ...purposes.map((purpose) => `${purpose}|the same`)]) {
    expect(hashes).not.toContain(createHmac('sha256', secret).update(text).digest('hex'));
  }
});

it('hashes under every secret in use, the current one first', async () => {
  const [current, former] = await keyedHashes([secret, `former ${secret}`], 'code', 'part');
  expect(current).toBe(await keyedHash(secret, 'code', 'part'));
  expect(former).toBe(await keyedHash(`former ${secret}`, 'code', 'part'));
});
