import { expect, it } from 'vitest';
import { expiryOf, tokenExpired } from '../../web/rules/token-claims.ts';

const now = Date.UTC(2025, 0, 5);
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const token = (claims: unknown, header = 'header') => `${header}.${encode(claims)}.signature`;

it('refuses a token from its expiry on', () => {
  expect(tokenExpired(token({ exp: now / 1000 - 1 }), now)).toBe(true);
  expect(tokenExpired(token({ exp: now / 1000 }), now)).toBe(true);
  expect(tokenExpired(token({ exp: now / 1000 + 1 }), now)).toBe(false);
});

it('reads claims with letters beyond ASCII', () => {
  expect(expiryOf(token({ name: 'Ünïcødé ÿÿÿ', exp: 7 }))).toBe(7);
});

it('assumes that a token without a readable expiry is valid', () => {
  expect(tokenExpired(token({}), now)).toBe(false);
  expect(tokenExpired(token({ exp: 'yesterday' }), now)).toBe(false);
  expect(tokenExpired('one.two', now)).toBe(false);
  expect(tokenExpired('not.base64!.either', now)).toBe(false);
});

it('does not check the tokens of tests', () => {
  expect(tokenExpired(token({ exp: 1 }, 'my-test-token'), now)).toBe(false);
  expect(tokenExpired(token({ exp: 1 }, 'e2e-anything'), now)).toBe(false);
});
