import { beforeEach, describe, expect, it, vi } from 'vitest';
import { pageRoutes } from '../../worker/contract/routes.ts';
import { apiErrors } from '../../worker/contract/errors.ts';
import { ApiError } from '../../web/data/api-error.ts';
import { request } from '../../web/data/api-client.ts';
import { handleRequestError } from '../../web/data/error-handling.ts';
import { restoreSession } from '../../web/data/profile-query.ts';
import { queryClient } from '../../web/data/query-client.ts';
import { onRedirect } from '../../web/data/redirects.ts';
import { session } from '../../web/data/session.ts';
import { activateTrial } from '../../web/data/sign-in.ts';
import { toasts } from '../../web/data/toasts.ts';
import { isOwnScript, showsCrisisLines } from '../../web/rules/crash-rules.ts';

const stored = new Map<string, string>();
vi.stubGlobal('localStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
  removeItem: (key: string) => stored.delete(key),
});
vi.stubGlobal('location', new URL('https://solace.example/account'));

beforeEach(() => {
  session.follow(null);
  stored.clear();
  toasts.take();
});

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

/** Makes a call with this token on a host; returns what it says, where it leads, and the token that is left. */
async function callWith(token: string | null, host: string) {
  vi.stubGlobal('location', new URL(`https://${host}/plans`));
  // The time of the server is asked for.
  const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json({}));
  const led: string[] = [];
  onRedirect(async (to) => void led.push(to));
  if (token) session.start(token);
  await expect(request('createPortalSession')).rejects.toThrow();
  const addresses = fetched.mock.calls.map(([address]) => address);
  expect(addresses.filter((address) => address !== '/api/country')).toEqual([]);
  fetched.mockRestore();
  const said = toasts.take().toasts.map(({ title }) => title);
  return { said, led, token: session.storedToken() };
}

describe('a call that is not sent', () => {
  const ended = `header.${Buffer.from('{"exp":1}').toString('base64url')}.signature`;
  const said = ['Your session has expired. Please log in again.'];

  it('with an ended token ends the session, and leads to the login, but not while we develop', async () => {
    expect(await callWith(ended, 'solace.example')).toEqual({ said, led: ['/login'], token: null });
    expect(await callWith(ended, 'solace.test')).toEqual({ said, led: [], token: null });
  });

  it('does not exist while only the device says that the token has ended', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('No network'));
    session.start(ended);
    await expect(request('createPortalSession')).rejects.toThrow();
    fetched.mockRestore();
    expect(session.storedToken()).toBe(ended);
  });

  it('without a token asks to log in', async () => {
    expect(await callWith(null, 'solace.example')).toEqual({
      said: ['Please log in to continue'],
      led: [],
      token: null,
    });
  });
});

it.each([
  [{}, 404, 'An unexpected error occurred while fetching user data.'],
  [{ success: false }, 200, 'Failed to fetch user profile data.'],
  [{ success: false, message: 'Nobody is here.' }, 200, 'Nobody is here.'],
])('a session without a profile ends, which is said: %j', async (body, status, text) => {
  const fetched = vi
    .spyOn(globalThis, 'fetch')
    .mockImplementation(async () => Response.json(body, { status }));
  session.start('token');
  await restoreSession('token');
  fetched.mockRestore();
  expect(toasts.take().toasts.map(({ title }) => title)).toEqual([text]);
  expect(session.storedToken()).toBeNull();
});

it.each([
  [true, true],
  [false, false],
])('a used link of a trial (one’s own: %s) goes on: %s', async (isTrial, success) => {
  const running = { success: false, code: 'trial_running', message: 'Log in.' };
  const profile = { phoneNumber: '+15551234567', isTrial };
  const fetched = vi
    .spyOn(globalThis, 'fetch')
    .mockImplementation(async (address) =>
      address === '/auth/verify-trial-token'
        ? Response.json(running, { status: 409 })
        : Response.json({ success: true, profile }),
    );
  session.start('token');
  expect(await activateTrial('used')).toMatchObject({ success });
  expect(session.storedToken()).toBe(success ? 'token' : null);
  fetched.mockRestore();
});

it('a failed read is tried once more after a second, and no more, and a refused one never', async () => {
  vi.useFakeTimers();
  for (const [error, tries] of [
    [new ApiError('Broken', { status: 503 }), 2],
    [new ApiError('No', { status: 404 }), 1],
  ] as const) {
    const queryFn = vi.fn(() => Promise.reject(error));
    const read = expect(
      queryClient.fetchQuery({ queryKey: [error.message], queryFn }),
    ).rejects.toThrow(error.message);
    await vi.advanceTimersByTimeAsync(999);
    expect(queryFn).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(60_000);
    await read;
    expect(queryFn).toHaveBeenCalledTimes(tries);
  }
  vi.useRealTimers();
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
