import { afterEach, describe, expect, it, vi } from 'vitest';
import { pageRoutes } from '../../worker/contract/routes.ts';
import { apiErrors } from '../../worker/contract/errors.ts';
import { ApiError } from '../../web/data/api-error.ts';
import { handleRequestError } from '../../web/data/error-handling.ts';
import { session } from '../../web/data/session.ts';
import { isOwnScript, showsCrisisLines } from '../../web/rules/crash-rules.ts';

const stored = new Map<string, string>();
vi.stubGlobal('localStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
  removeItem: (key: string) => stored.delete(key),
});
vi.stubGlobal('location', new URL('https://solace.example/account'));

afterEach(() => session.follow(null));

const names = Object.keys(pageRoutes) as (keyof typeof pageRoutes)[];
const protectedCalls = names.filter((name) => pageRoutes[name].access === 'user');
const failures = Object.values(apiErrors);

describe('a call that fails', () => {
  it.each(protectedCalls)(
    '%s ends the session by the code that says so, never by its status',
    () => {
      for (const { status, code, message } of [...failures, ...withoutCode]) {
        session.start('token');
        handleRequestError(
          new ApiError(message, {
            status,
            code,
            toast: null,
          }),
          'token',
        );
        const isOver = session.storedToken() === null;
        expect([code, status, isOver]).toEqual([code, status, code === 'unauthenticated']);
      }
    },
  );
});

/** Answers of networks and firewalls in the server's place. */
const withoutCode = [401, 403, 407, 511].map((status) => ({
  status,
  code: undefined,
  message: 'Log in to this network',
}));

describe("the site's own scripts", () => {
  const origin = 'https://solace.example';

  it.each([
    [`${origin}/assets/en-1234/main.js`, true],
    [`${origin}/assets/vendor.js`, true],
    [`${origin}/chat`, false],
    [`${origin}.evil.example/assets/a.js`, false],
    ['https://elsewhere.example/assets/a.js', false],
    ['chrome-extension://abc/assets/a.js', false],
    ['webkit-masked-url://hidden/', false],
    ['', false],
  ])('%s: %s', (address, isOwn) => {
    expect(isOwnScript(address, origin)).toBe(isOwn);
  });
});

it.each([
  ['/help-now', true],
  ['/es/help-now', true],
  ['/pt-br/help-now/', true],
  ['/help', false],
  ['/account', false],
])('%s shows crisis lines: %s', (path, shows) => {
  expect(showsCrisisLines(path)).toBe(shows);
});
