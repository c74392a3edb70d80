import { expect, it } from 'vitest';
import type { Handler } from '../../worker/http/request-context.ts';
import { type PhoneNumber, canonicalPhone } from '../../worker/accounts/phone.ts';

/** The compiler checks this file: an error that is expected and does not occur fails `npm run types`. */
const checked: Handler<'getPlatform'> = ({ session }) =>
  session.run([], ({ platform }) => ({ success: true, platform }));

// @ts-expect-error A user's handler that responds without `session.run` does not compile.
const unchecked: Handler<'getPlatform'> = async () => ({ success: true, platform: 'web' });

// @ts-expect-error A public handler has no session.
const withoutUser: Handler<'requestOtp'> = async ({ session }) => session;

// @ts-expect-error A number is not canonical before `canonicalPhone` has made it so.
const raw: PhoneNumber = '+5215512345678';

it('makes canonical numbers in one place', () => {
  expect([checked, unchecked, withoutUser].every((handler) => typeof handler === 'function')).toBe(true);
  expect(canonicalPhone(raw)).toBe('+525512345678');
});
