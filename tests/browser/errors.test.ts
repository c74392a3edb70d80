import type { Page } from 'playwright/test';
import { deleteAccount, expectToasts, hydrated, open, settle } from './support/page.ts';
import { type Stub, elsewhere, profileOf, servePayments } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';
import { enterCode } from './support/test.ts';

test('an uncaught error shows the crash screen until a reload', async ({ page, stub, expectedErrors }) => {
  expectedErrors.push(/The sky fell|Only words/);
  await stub.signedIn();
  await open(page, '/plans');
  // A layout that needed two rounds is no error.
  await page.evaluate(() =>
    window.dispatchEvent(
      new ErrorEvent('error', { message: 'ResizeObserver loop completed with undelivered notifications.' }),
    ),
  );
  await settle(page);
  await expect(page.getByRole('heading', { name: 'Choose Your Plan' })).toBeVisible();
  await page.evaluate(() => reportError(new Error('The sky fell.')));
  await expect(page.getByRole('heading', { name: 'Something went wrong' })).toBeVisible();
  await expect(page.getByRole('alert').getByText('The sky fell.')).toBeVisible();
  await expect(page.getByRole('banner')).toHaveCount(0);
  await page.getByRole('button', { name: 'Refresh Page' }).click();
  await expect(page.getByRole('heading', { name: 'Choose Your Plan' })).toBeVisible();
  await hydrated(page);
  await page.evaluate(() => reportError('Only words.'));
  await expect(page.getByRole('alert').getByText(/Only words\./)).toBeVisible();
});

async function everything(page: Page, stub: Stub): Promise<void> {
  stub.respond('verifyOtp', { success: true, token: 'e2e-new', status: 'approved' });
  stub.respond('putPlatform', { success: true, platform: 'web' });
  for (const name of ['createPortalSession', 'createSubscriptionUpdateSession'] as const)
    stub.respond(name, { success: true, portalUrl: `${elsewhere}/portal` });
  stub.respond('verifyCheckoutSession', { success: true, tierUpdated: false, newTier: 'basic' });
  stub.respond('deleteMe', { success: true });
  stub.respond('verifyTrialToken', { success: false });
  stub.respond('verifyExternalToken', { success: true, token: 'e2e-ext', user: profileOf({}), status: 'approved' });
  await servePayments(page);
  await open(page, '/login');
  await page.getByLabel('Phone number').fill('+15551234567');
  await enterCode(page);
  await page.getByText('Chat through the web interface').click();
  await page.getByRole('button', { name: 'Update Platform' }).click();
  await page.getByRole('button', { name: 'Upgrade Your Plan' }).click();
  await page.getByRole('button', { name: 'Billing Management' }).click();
  await expect.poll(() => stub.calls('createPortalSession').length).toBe(1);
  await open(page, '/account?session_id=cs_1');
  await expect.poll(() => stub.calls('verifyCheckoutSession').length).toBe(1);
  await expect.poll(() => new URL(page.url()).search).toBe('');
  await deleteAccount(page);
  await page.waitForURL('**/login');
  await expectToasts(page, ['Success', 'Account deleted successfully']);
  await open(page, '/activate-trial?token=trial');
  await expect(page.getByRole('heading', { name: 'Activation Failed' })).toBeVisible();
  await page.goto('/login#external_token=ext');
  await page.waitForURL('**/account');
}

const bearer = 'Bearer e2e-new';
const callRows: [call: string, token: string | undefined, body: object | null][] = [
  ['POST /api/auth/request-otp', undefined, { phone: '+15551234567' }],
  ['POST /api/auth/verify-otp', undefined, { phone: '+15551234567', otp: '123456', challenge: 'challenge' }],
  ['POST /api/auth/verify-external-token', undefined, { token: 'ext' }],
  ['GET /api/user/me', bearer, null],
  ['DELETE /api/user/me', bearer, null],
  ['GET /api/user/platform', bearer, null],
  ['PUT /api/user/platform', bearer, { platform: 'web' }],
  ['POST /api/billing/create-subscription-update-session', bearer, null],
  ['POST /api/billing/create-portal-session', bearer, null],
  ['POST /api/billing/verify-and-update-checkout-session', bearer, { sessionId: 'cs_1' }],
  ['POST /auth/verify-trial-token', undefined, { trialToken: 'trial' }],
];
const stream = 'GET /api/user/usage-stream';
/** The page's calls beyond those of the specification: the logout, the stream ticket, and the key of notices. */
const others = ['POST /api/auth/logout', 'POST /api/user/stream-ticket', 'GET /api/user/push'];

test('every call goes where it should, with what it should and without cookies', async ({ page, stub, baseURL }) => {
  await page.context().addCookies([{ name: 'kept', value: 'here', url: baseURL! }]);
  await page.addInitScript(() => {
    window.EventSource = class extends EventSource {
      constructor(address: string | URL, init?: EventSourceInit) {
        super(address, init);
        if (!this.withCredentials) throw new Error('The stream has no credentials.');
      }
    };
  });
  await everything(page, stub);
  const made = stub.calls().map((call) => ({ ...call, call: `${call.method} ${call.path}` }));
  for (const [call, token, body] of callRows)
    expect(made.find((each) => each.call === call)).toMatchObject({ token, body });
  expect(made.find(({ call }) => call === stream)?.search.get('token')).toBe('ticket');
  for (const { call, headers } of made) {
    expect([...callRows.map(([known]) => known), stream, ...others]).toContain(call);
    if (call !== stream) expect([call, headers['sec-fetch-mode'], headers.cookie]).toEqual([call, 'cors', undefined]);
  }
});
