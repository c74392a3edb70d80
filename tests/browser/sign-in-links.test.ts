import type { Page } from 'playwright/test';
import { expectToasts, follow, open, storedToken } from './support/page.ts';
import { jwt, profileOf } from './support/stub.ts';
import { enterCode, expect, stubbed as test } from './support/test.ts';

const tokenOf = (sub: string) => jwt({ sub, exp: 4_000_000_000 });

test('an external token leads to the account, or says why it fails', async ({ page, stub }) => {
  await open(page, '/login');
  // Pasted into the open page, a token is read as well.
  stub.respond('verifyExternalToken', { message: 'Invalid or expired token' }, 401);
  await page.evaluate(() => void (location.hash = 'external_token=abc'));
  await expect(page.getByRole('main').getByRole('alert')).toHaveText('Invalid or expired token');
  await expect(page.getByLabel('Phone number')).toBeVisible();
  await expectToasts(page);
  expect(await storedToken(page)).toBeNull();
  expect(new URL(page.url()).hash).toBe('');

  // The response is the profile.
  const user = profileOf({
    tier: 'basic',
    used: 4,
    renewalDate: '2025-01-05T09:00:00.000Z',
  });
  stub.respond('verifyExternalToken', {
    success: true,
    token: 'e2e-external',
    user,
    status: 'approved',
  });
  await open(page, '/contact');
  await page.goto('/login#external_token=abc.def.ghi');
  await page.waitForURL(({ pathname, hash }) => pathname === '/account' && hash === '');
  expect(stub.calls('verifyExternalToken').at(-1)).toMatchObject({
    body: { token: 'abc.def.ghi' },
  });
  expect(await storedToken(page)).toBe('e2e-external');
  await expectToasts(page);
  await expect(page.getByText('4 / 30')).toBeVisible();
  await expect(page.getByText('Renews on January 5, 2025')).toBeVisible();
  expect(stub.calls('getMe')).toEqual([]);
});

test('a trial link ends in the account; its token leaves the address before the first call', async ({
  page,
  stub,
}) => {
  await page.addInitScript(() => {
    const real = window.fetch;
    window.fetch = async (input, init) => {
      if (location.href.includes('12345')) throw new Error('The token is in the address.');
      return real(input, init);
    };
  });
  await stub.signedIn({ tier: 'premium', isTrial: true }, tokenOf('one'));
  stub.respond('verifyTrialToken', {
    success: true,
    token: `${tokenOf('one')}x`,
  });
  const release = stub.hold('verifyTrialToken');
  await open(page, '/activate-trial?token=12345');
  await expect(page.getByRole('heading', { name: 'Activating Your Trial...' })).toBeVisible();
  release();
  await page.waitForURL('**/account');
  await expectToasts(page, ['Trial activated successfully! Welcome.']);
  await expect(page.getByText('Free Trial')).toBeVisible();
  await expect(page.getByText('You are now signed in as')).toHaveCount(0);
  expect(await storedToken(page)).toBe(`${tokenOf('one')}x`);
  expect(stub.calls('verifyTrialToken')).toMatchObject([
    { body: { trialToken: '12345' }, token: undefined },
  ]);
});

const trialFailures = [
  [{ success: true }, 200, 'Failed to activate trial. The link may be invalid or expired.'],
  [{ success: false, message: 'Used before.' }, 200, 'Used before.'],
  [{}, 404, 'An unexpected error occurred during activation.'],
  [
    { success: true, token: 'e2e-trial' },
    200,
    'Login successful, but failed to fetch user profile.',
  ],
] as const;

test(
  'a link that fails says why, removes the stored token and ends no session; one without a token makes no call',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stub.signedIn();
    for (const [body, status, told] of trialFailures) {
      stub.person({});
      const release = stub.hold('verifyTrialToken');
      await open(page, '/activate-trial?token=t');
      await expect(page.getByRole('heading', { name: 'Activating Your Trial...' })).toBeVisible();
      expect(await storedToken(page)).toBe('e2e-token');
      stub.respond('verifyTrialToken', body, status);
      stub.respond('getMe', { success: false });
      release();
      await expect(page.getByRole('heading', { name: 'Activation Failed' })).toBeVisible();
      await expect(page.getByRole('main').getByText(told, { exact: true })).toBeVisible();
      await expectToasts(page);
      expect(await storedToken(page)).toBeNull();
      expect(stub.calls('logout')).toEqual([]);
      stub.person({});
      await follow(page.getByRole('link', { name: 'Back to my account' }), '**/account');
      expect(await storedToken(page)).toBe('e2e-token');
      await expect(page.getByText('Free plan')).toBeVisible();
    }
    await page.evaluate(() => localStorage.clear());
    await open(page, '/activate-trial');
    await expect(page.getByRole('heading', { name: 'Activation Failed' })).toBeVisible();
    await expect(
      page.getByText('Activation token is missing. Please check the link.'),
    ).toBeVisible();
    await follow(page.getByRole('link', { name: 'Go to Login' }), '**/login');
    expect(stub.calls('verifyTrialToken')).toHaveLength(trialFailures.length);
  },
);

const running = {
  success: false,
  code: 'trial_running',
  message: 'This trial has started already. Please log in.',
};

test(
  'a used link of a trial that runs leads its owner to the account, others to the login',
  { tag: '@full' },
  async ({ page, stub }) => {
    stub.respond('verifyTrialToken', running, 409);
    await open(page, '/activate-trial?token=t');
    await expect(page.getByRole('main').getByText(running.message)).toBeVisible();
    await expect(page.getByRole('link', { name: 'Back to my account' })).toHaveCount(0);
    await follow(page.getByRole('link', { name: 'Go to Login' }), '**/login');

    await stub.signedIn({ tier: 'premium', isTrial: true });
    await open(page, '/activate-trial?token=t');
    await page.waitForURL('**/account');
    expect(await storedToken(page)).toBe('e2e-token');
    await expect(page.getByText('Free Trial')).toBeVisible();
    await expectToasts(page);

    stub.person({});
    await open(page, '/activate-trial?token=t');
    await expect(page.getByRole('main').getByText(running.message)).toBeVisible();
    await expect(page.getByRole('link', { name: 'Back to my account' })).toBeVisible();
    expect(stub.calls('logout')).toEqual([]);
  },
);

test(
  'a session that was put aside is kept until somebody signs in',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stub.signedIn();
    stub.respond('verifyTrialToken', { success: false, message: 'No.' }, 401);
    await open(page, '/activate-trial?token=t');
    await expect(page.getByRole('link', { name: 'Back to my account' })).toBeVisible();
    await page.reload();
    await expect(page.getByRole('link', { name: 'Back to my account' })).toBeVisible();
    await follow(page.getByRole('link', { name: 'Go to Login' }), '**/login');
    stub.respond('verifyOtp', {
      success: true,
      token: tokenOf('other'),
      status: 'approved',
    });
    await page.getByLabel('Phone number').fill('+15551234567');
    await enterCode(page);
    await page.waitForURL('**/account');
    await open(page, '/activate-trial');
    await expect(page.getByRole('heading', { name: 'Activation Failed' })).toBeVisible();
    await expect(page.getByRole('link', { name: 'Back to my account' })).toHaveCount(0);
  },
);

const switched =
  'You are now signed in as +1 555-765-4321. The account that was signed in here before has been signed out.';
const needsCode = 'Please sign in with a code to see this.';

test.describe('a trial link over the session of another number', () => {
  const notice = (page: Page) => page.getByRole('status').filter({ hasText: switched });
  /** The account is shown, and nothing is said about another. */
  const expectNoNotice = async (page: Page) => {
    await expect(page.getByRole('main').getByText('+1 555-765-4321')).toBeVisible();
    await expect(notice(page)).toHaveCount(0);
  };
  test.beforeEach(async ({ page, stub }) => {
    await stub.signedIn({ isTrial: true, phoneNumber: '+15557654321' }, tokenOf('one'));
    stub.respond('verifyTrialToken', {
      success: true,
      token: tokenOf('other'),
    });
    await open(page, '/activate-trial?token=t');
    await page.waitForURL('**/account');
    await expect(notice(page)).toBeVisible();
  });

  test('says whose account this is, on every page and after a reload, until dismissed', async ({
    page,
    stub,
  }) => {
    await follow(
      page.getByRole('link', { name: 'Home', exact: true }),
      (url) => url.pathname === '/',
    );
    await expect(notice(page)).toBeVisible();
    await open(page, '/plans');
    await expect(notice(page)).toBeVisible();
    expect(await page.evaluate(() => Object.values(sessionStorage))).not.toContain(
      tokenOf('other'),
    );
    await expect
      .poll(() => stub.calls('logout').map(({ token }) => token))
      .toEqual([`Bearer ${tokenOf('one')}`]);

    await notice(page).getByRole('button', { name: 'Dismiss' }).click();
    await expect(notice(page)).toHaveCount(0);
    await open(page, '/account');
    await expectNoNotice(page);
  });

  test(
    'says it until somebody signs in by code, which a call that needs one leads to',
    { tag: '@full' },
    async ({ page, stub }) => {
      stub.respond(
        'getSessions',
        { success: false, code: 'sign_in_needed', message: needsCode },
        403,
      );
      stub.respond('verifyOtp', {
        success: true,
        token: `${tokenOf('other')}full`,
        status: 'approved',
      });
      await follow(page.getByRole('button', { name: 'Sessions' }), '**/login');
      await expect(page.getByText(needsCode)).toBeVisible();
      await expect(page.getByLabel('Phone number')).toHaveValue('+15557654321');
      expect(await storedToken(page)).toBe(tokenOf('other'));
      await enterCode(page);
      await page.waitForURL('**/account');
      expect(await storedToken(page)).toBe(`${tokenOf('other')}full`);
      await expectNoNotice(page);
      await open(page, '/account');
      await expectNoNotice(page);
    },
  );
});

test(
  'a session whose number may have a new owner is led to the support, which says why',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stub.signedIn();
    const refusal = {
      success: false,
      code: 'sign_in_needed',
      newOwner: true,
      message: 'English.',
    };
    stub.respond('getSessions', refusal, 403);
    const sentences = {
      '': ['Sessions', /may have a new owner.* write to us here\.$/],
      '/es': ['Sesiones', /tenga otro dueño.* escríbenos aquí\.$/],
      '/pt-br': ['Sessões', /ter um novo dono.* escreva para nós aqui\.$/],
    } as const;
    for (const [start, [button, sentence]] of Object.entries(sentences)) {
      await open(page, `${start}/account`);
      await page.getByRole('button', { name: button }).click();
      await page.waitForURL(`**${start}/contact?about=number`);
      const main = page.getByRole('main');
      await expect(main.getByRole('status').filter({ hasText: sentence })).toBeVisible();
      await expect(main.getByRole('link', { name: /@/ })).toBeVisible();
      await page.reload();
      await expect(main.getByText(sentence)).toBeVisible();
      await expectToasts(page);
      expect(await storedToken(page)).toBe('e2e-token');
      await open(page, `${start}/contact`);
      await expect(main.getByText(sentence)).toHaveCount(0);
    }
  },
);
