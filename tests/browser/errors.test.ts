import { expectToasts, hydrated, open, settle } from './support/page.ts';
import { type Stub, elsewhere, profileOf, servePayments } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';
import type { Page } from 'playwright/test';

test('an error of another kind is shown with its text', async ({ page, stub }) => {
  await page.addInitScript(() => {
    const real = window.fetch;
    window.fetch = (input, init) => {
      if (typeof input === 'string' && input.includes('verify-and-update')) throw new Error('A strange thing.');
      return real(input, init);
    };
  });
  await stub.signedIn();
  await open(page, '/account?session_id=cs_1');
  await expect.poll(() => new URL(page.url()).search).toBe('');
  await expectToasts(page, ['A strange thing.']);
});

test('an error that is not caught shows the crash screen until the page is reloaded', async ({
  page,
  stub,
  expectedErrors,
}) => {
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

type Made = { call: string; token: string | null; body: unknown; mode: string; credentials: string };

/** Records every call of the page, the stream's included. */
async function watchCalls(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const made: Made[] = JSON.parse(sessionStorage.getItem('made') ?? '[]');
    const note = (call: Made) => {
      made.push(call);
      sessionStorage.setItem('made', JSON.stringify(made));
    };
    const [realFetch, RealSource] = [window.fetch, window.EventSource];
    window.fetch = async (input, init) => {
      const { url, method, headers, mode, credentials } = new Request(input, init);
      const body = typeof init?.body === 'string' ? JSON.parse(init.body) : null;
      const call = `${method} ${new URL(url).pathname}`;
      if (!call.includes('.')) note({ call, token: headers.get('authorization'), body, mode, credentials });
      return realFetch(input, init);
    };
    window.EventSource = class extends RealSource {
      constructor(address: string | URL, init?: EventSourceInit) {
        super(address, init);
        const { pathname, searchParams } = new URL(address, location.href);
        const credentials = init?.withCredentials ? 'include' : 'same-origin';
        note({ call: `GET ${pathname}`, token: searchParams.get('token'), body: null, mode: 'cors', credentials });
      }
    };
  });
}

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
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  await page.getByLabel('Verification code').fill('123456');
  await page.getByRole('button', { name: 'Verify Code' }).click();
  await page.getByText('Chat through the web interface').click();
  await page.getByRole('button', { name: 'Update Platform' }).click();
  await page.getByRole('button', { name: 'Upgrade Your Plan' }).click();
  await page.getByRole('button', { name: 'Billing Management' }).click();
  await expect.poll(() => stub.calls('createPortalSession').length).toBe(1);
  await open(page, '/account?session_id=cs_1');
  await expect.poll(() => stub.calls('verifyCheckoutSession').length).toBe(1);
  await page.getByRole('main').getByRole('button', { name: 'Delete Account' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete Account' }).click();
  await page.waitForURL('**/login');
  await open(page, '/activate-trial?token=trial');
  await expect(page.getByRole('heading', { name: 'Activation Failed' })).toBeVisible();
  await page.goto('/login#external_token=ext');
  await page.waitForURL('**/account');
}

const bearer = 'Bearer e2e-new';
const callRows: [call: string, token: string | null, body: object | null, credentials?: 'include'][] = [
  ['POST /api/auth/request-otp', null, { phone: '+15551234567' }],
  ['POST /api/auth/verify-otp', null, { phone: '+15551234567', otp: '123456', challenge: 'challenge' }],
  ['POST /api/auth/verify-external-token', null, { token: 'ext' }],
  ['GET /api/user/me', bearer, null],
  ['DELETE /api/user/me', bearer, null],
  ['GET /api/user/platform', bearer, null],
  ['PUT /api/user/platform', bearer, { platform: 'web' }],
  ['POST /api/billing/create-subscription-update-session', bearer, null],
  ['POST /api/billing/create-portal-session', bearer, null],
  ['POST /api/billing/verify-and-update-checkout-session', bearer, { sessionId: 'cs_1' }],
  ['GET /api/user/usage-stream', 'ticket', null, 'include'],
  ['POST /auth/verify-trial-token', null, { trialToken: 'trial' }],
];

test('every call goes where it should, with what it should and without cookies', async ({ page, stub }) => {
  await watchCalls(page);
  await everything(page, stub);
  const made: Made[] = JSON.parse(await page.evaluate(() => sessionStorage.getItem('made') ?? '[]'));
  for (const [call, token, body, credentials = 'omit'] of callRows)
    expect(made.find((each) => each.call === call)).toEqual({ call, token, body, mode: 'cors', credentials });
  // The page's calls beyond the table: the logout, the stream ticket, and the key of notices.
  const others = ['POST /api/auth/logout', 'POST /api/user/stream-ticket', 'GET /api/user/push'];
  const known = [...callRows.map(([call]) => call), ...others];
  expect(made.map(({ call }) => call).filter((call) => !known.includes(call))).toEqual([]);
});
