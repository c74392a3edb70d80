import { isRedirect } from '@tanstack/react-router';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { requireGuest, requirePendingUser, requireUser } from '../../web/app/guards.ts';
import { keepProfile } from '../../web/data/profile-query.ts';
import { session } from '../../web/data/session.ts';
import { closeTestPage, openTestPage } from './test-page.ts';

beforeEach(() => {
  openTestPage();
  session.endInitialization();
});

afterEach(() => {
  session.beginInitialization();
  closeTestPage();
});

const location = { pathname: '/chat', searchStr: '', search: {} };
const context = { isPrerender: false };

/** Returns where a guard leads; null if it lets the person in. */
async function ledTo(guard: () => Promise<void>): Promise<string | undefined | null> {
  try {
    await guard();
    return null;
  } catch (error) {
    if (isRedirect(error)) return error.options.to;
    throw error;
  }
}

const ways = async () => [
  await ledTo(() => requireUser({ context, location })),
  await ledTo(() => requirePendingUser({ context })),
  await ledTo(() => requireGuest('/chat')),
];

it('a guest is led to the login from both private kinds of page', async () => {
  expect(await ways()).toEqual(['/login', '/login', null]);
});

it.each([
  ['approved', [null, '/account', '/chat']],
  ['pending', ['/pending-approval', null, '/chat']],
])('a member who is %s is led to pages of their own', async (status, expected) => {
  session.start('token of a member');
  keepProfile('token of a member', { phoneNumber: '+15551234567', status });
  expect(await ways()).toEqual(expected);
});
