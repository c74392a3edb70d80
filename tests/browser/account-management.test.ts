import type { Page } from 'playwright/test';
import {
  expectToasts,
  open,
  openAccount,
  shownToasts,
  stopTime,
  takeToasts,
} from './support/page.ts';
import { elsewhere, profileOf, servePayments } from './support/stub.ts';
import { expect, fullUnless, isFull, stubbed as test } from './support/test.ts';

const management = (page: Page) => page.getByRole('region', { name: 'Account Management' });
const changeNumber = (page: Page) =>
  management(page).getByRole('button', {
    name: 'Change Number',
    exact: true,
  });

const portals = [
  {
    name: 'createSubscriptionUpdateSession',
    button: 'Manage Subscription',
    busy: 'Opening...',
    opened: ['Subscription Management Opened', 'Check your new tab to manage your subscription'],
    blocked: ['Redirecting to Subscription Management', 'Opening in current tab...'],
    nothing: 'Failed to create portal session',
    failed: 'Failed to open subscription management',
  },
  {
    name: 'createPortalSession',
    button: 'Billing Management',
    busy: 'Opening Portal...',
    opened: ['Billing Management Opened', 'Check your new tab to manage billing details'],
    blocked: ['Redirecting to Billing Management'],
    nothing: 'Failed to open billing management',
    failed: 'Failed to open billing management',
  },
] as const;

for (const { name, button, busy, opened, blocked, nothing, failed } of portals) {
  const portal = { success: true, portalUrl: `${elsewhere}/portal` };
  const options = fullUnless(name === portals[0].name);

  test(
    `${button} opens the portal in a new tab, or says once why there is none`,
    options,
    async ({ page, context, stub }) => {
      await openAccount(page, stub, { tier: 'basic' });
      const open = management(page).getByRole('button', { name: button });
      const failing = [
        [
          () =>
            stub.respond(name, {
              success: false,
              message: 'The desk is closed.',
            }),
          'The desk is closed.',
        ],
        [() => stub.respond(name, { success: true }), nothing],
      ] as const;
      // tests/rules has the sentences of each status.
      const moreFailing = [
        [() => stub.respond(name, { message: 'No such thing.' }, 404), failed],
        [
          () => stub.respond(name, { message: 'A stack.' }, 500),
          'Server error. Please try again later.',
        ],
        [
          () => stub.disconnect(name),
          'Unable to connect to server. Please check your internet connection.',
        ],
      ] as const;
      for (const [arrange, told] of isFull ? [...failing, ...moreFailing] : failing) {
        arrange();
        await open.click();
        await takeToasts(page, ['Error', told]);
      }

      stub.respond(name, portal);
      await servePayments(page);
      const release = stub.hold(name);
      const opening = context.waitForEvent('page');
      await open.click();
      // Opened by the press itself: Safari forbids it after a response.
      const tab = await opening;
      await expect(
        management(page).getByRole('button', { name: busy, exact: true }),
      ).toBeDisabled();
      for (const other of await management(page).getByRole('button').all())
        await expect(other).toBeDisabled();
      release();
      await tab.waitForURL(`${elsewhere}/portal`);
      expect(await tab.evaluate(() => window.opener)).toBeNull();
      expect(stub.calls(name).at(-1)).toMatchObject({ body: null });
      await expectToasts(page, opened);
      await expect(open).toBeEnabled();
    },
  );

  test(
    `${button} opens the portal here after half a second where tabs are blocked`,
    { tag: '@full' },
    async ({ page, stub }) => {
      await page.addInitScript(() => void (window.open = () => null));
      stub.respond(name, portal);
      await servePayments(page);
      await stopTime(page);
      await openAccount(page, stub, { tier: 'basic' });
      // The first toast loads the part that shows toasts, while the clock stands still.
      await page.getByRole('button', { name: 'Refresh plan' }).click();
      const show = () => page.clock.runFor(100).then(() => shownToasts(page));
      await expect.poll(show, 'the first toast').toHaveLength(1);
      await management(page).getByRole('button', { name: button }).click();
      await expect(management(page).getByRole('button', { name: button })).toBeEnabled();
      await page.clock.runFor(499);
      await expectToasts(page, ['Success', 'Profile refreshed successfully'], blocked);
      expect(new URL(page.url()).pathname).toBe('/account');
      await page.clock.runFor(1);
      await page.waitForURL(`${elsewhere}/portal`);
    },
  );
}

test(
  'Back at the code of a new number leads to that number, and later off the page',
  { tag: '@full' },
  async ({ page, stub }) => {
    const goBack = () => page.evaluate(() => history.back());
    const code = management(page).getByLabel('Verification code');
    stub.respond('beginPhoneChange', {
      success: true,
      challenge: 'challenge',
    });
    await open(page, '/plans');
    await openAccount(page, stub);
    await changeNumber(page).click();
    const phone = management(page).getByLabel('New phone number');
    await phone.fill('+15559876543');
    await management(page).getByRole('button', { name: 'Send Code' }).click();
    await code.waitFor();
    await goBack();
    await expect(phone).toHaveValue('+15559876543');
    await page.evaluate(() => history.forward());
    await code.fill('1');
    await management(page).getByRole('button', { name: 'Keep My Number' }).click();
    await changeNumber(page).waitFor();
    await goBack();
    await page.waitForURL('**/plans');
  },
);

test('the number is kept, or changes with the code that the new number received', async ({
  page,
  stub,
}) => {
  await openAccount(page, stub);
  stub.respond('beginPhoneChange', {
    success: true,
    challenge: 'challenge',
  });
  await changeNumber(page).click();
  await management(page).getByRole('button', { name: 'Keep My Number' }).click();
  await changeNumber(page).click();
  const phone = management(page).getByLabel('New phone number');
  await expect(phone).toBeFocused();
  await phone.fill('5559876543');
  await management(page).getByRole('button', { name: 'Send Code' }).click();
  await expect(phone).toHaveAccessibleErrorMessage(
    'Please include country code (e.g., +1234567890)',
  );
  expect(stub.calls('beginPhoneChange')).toEqual([]);
  await phone.fill('+1 555 987 6543');
  await management(page).getByRole('button', { name: 'Send Code' }).click();
  const code = management(page).getByLabel('Verification code');
  await expect(code).toBeFocused();
  const changed = {
    success: true,
    profile: profileOf({ phoneNumber: '+15559876543' }),
  };
  const wrongCode = {
    success: false,
    code: 'invalid_code',
    message: 'Invalid code. Please try again.',
  };
  stub.respond('verifyPhoneChange', wrongCode, 401);
  await code.fill('Your code is *654-321*');
  await expect(code).toHaveValue('654321');
  await changeNumber(page).click();
  await takeToasts(page, ['Error', wrongCode.message]);
  stub.respond('verifyPhoneChange', changed);
  await code.fill('123456');
  await changeNumber(page).click();
  await expect(page.getByText('Number changed')).toBeVisible();
  await expect(page.getByText('You are signed out everywhere else.')).toBeVisible();
  await expect(page.getByRole('main').getByText('+1 555-987-6543').first()).toBeVisible();
  await expect(changeNumber(page)).toHaveAccessibleDescription(
    /^Move your account to another number/,
  );
  expect(stub.calls('beginPhoneChange')).toMatchObject([{ body: { phone: '+15559876543' } }]);
  const sent = {
    phone: '+15559876543',
    otp: '123456',
    challenge: 'challenge',
  };
  expect(stub.calls('verifyPhoneChange').at(-1)).toMatchObject({ body: sent });

  // A change that is done is not offered again.
  await changeNumber(page).click();
  await expect(phone).toHaveValue('');
  await management(page).getByRole('button', { name: 'Keep My Number' }).click();

  // An address of our own opens in its place.
  stub.respond('createSubscriptionUpdateSession', {
    success: true,
    portalUrl: '/plans',
  });
  await management(page).getByRole('button', { name: 'Upgrade Your Plan' }).click();
  await expect(page.getByRole('heading', { name: 'Choose Your Plan' })).toBeVisible();
});
