import { expect, it } from 'vitest';
import { afterLogin } from '../../web/rules/sign-in-rules.ts';

it.each([
  ['approved', undefined, '/account', 'none'],
  ['authenticated', undefined, '/account', 'none'],
  [undefined, undefined, '/account', 'none'],
  ['pending', undefined, '/pending-approval', 'none'],
  ['suspended', undefined, '/', 'issue'],
  ['pending', 'premium', '/account', 'success'],
  ['approved', 'free', '/account', 'success'],
  ['suspended', 'gold', '/', 'issue'],
])('status %s with plan %s', (status, plan, to, notice) => {
  expect(afterLogin(status, plan)).toEqual({ to, notice });
});
