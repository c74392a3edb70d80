import { expectToasts, expectToBeAccessible, open, settle, stopTime } from './support/page.ts';
import { expect, test } from './support/stubbed.ts';

const verified = { success: true, tierUpdated: false, newTier: 'premium' };

test('a successful payment updates the account after 1.5 s', async ({ page, stub }) => {
  await stopTime(page);
  stub.respond('verifyCheckoutSession', verified);
  await stub.signedIn();
  await open(page, '/payment-success?session_id=cs_1');
  await expect(page.getByRole('heading', { name: 'Payment Successful!' })).toBeVisible();
  await expect(page.getByText('Your transaction was completed successfully.')).toBeVisible();
  await expect(page.getByText('Loading account details...')).toBeVisible();
  await expect(page.getByRole('main').getByText(/Stripe customer portal/)).toBeVisible();
  await settle(page);
  await page.clock.runFor(1499);
  await settle(page);
  expect(stub.calls('getMe')).toHaveLength(1);
  await page.clock.runFor(1);
  await expect(page.getByText('Welcome aboard! Your account has been updated.')).toBeVisible();
  await expect(page.getByText('Loading account details...')).toHaveCount(0);
  expect(stub.calls('getMe')).toHaveLength(2);
  await expect(page.getByRole('main').getByRole('alert')).toHaveCount(0);
  await page.clock.resume();
  await expectToBeAccessible(page);
  await page.getByRole('link', { name: 'Manage My Account' }).click();
  await page.waitForURL('**/account');
});

test('a payment of a signed-out user leads to the login', async ({ page, stub }) => {
  await stopTime(page);
  await open(page, '/payment-success?session_id=cs_1');
  await expect(page.getByText('Loading account details...')).toBeVisible();
  await settle(page);
  await page.clock.runFor(1500);
  await expect(page.getByText('Thank you for your purchase. Please log in to view your account.')).toBeVisible();
  expect(stub.calls('verifyCheckoutSession')).toEqual([]);
  await page.getByRole('link', { name: 'Go to Login' }).click();
  await page.waitForURL('**/login');
});

for (const [what, told] of [
  ['profile', 'Failed to fully update profile after payment.'],
  ['browser', 'Error processing payment success.'],
] as const) {
  test(`a ${what} that fails after the payment is shown in an alert`, async ({ page, stub, expectedErrors }) => {
    expectedErrors.push(/Broken/);
    await stopTime(page);
    await stub.signedIn();
    await open(page, '/payment-success');
    await expect(page.getByText('Loading account details...')).toBeVisible();
    if (what === 'profile') stub.respond('getMe', { success: false });
    else await page.evaluate(() => void (Promise.all = () => Promise.reject(new Error('Broken'))));
    await settle(page);
    await page.clock.runFor(1500);
    await expect(page.getByRole('main').getByRole('alert')).toHaveText(told);
    await expectToasts(page);
  });
}

const returns = [
  {
    path: '/auth/stripe-success?session_id=cs_1',
    busy: 'Processing...',
    done: ['Success!', 'Your changes have been processed successfully.'],
    toasts: [],
    ticks: 0,
  },
  {
    path: '/payment-details-saved?session_id=cs_1',
    busy: 'Verifying payment setup...',
    done: ['Payment details saved', 'Your payment method has been saved successfully.'],
    toasts: [['Payment details saved', 'Your payment method has been saved successfully.']],
    ticks: 3,
  },
] as const;

for (const { path, busy, done, toasts, ticks } of returns) {
  // The three pages share what a visitor sees.
  for (const isLoggedIn of path.startsWith('/auth') ? [true, false] : [true]) {
    test(`${path} is done after 2 s, ${isLoggedIn ? 'logged in' : 'for a visitor'}`, async ({ page, stub }) => {
      await stopTime(page);
      stub.respond('verifyCheckoutSession', verified);
      if (isLoggedIn) await stub.signedIn();
      await open(page, path);
      const heading = page.getByRole('heading', { level: 1 });
      await expect(heading).toHaveText(busy);
      await settle(page);
      await page.clock.runFor(1999);
      await settle(page);
      await expect(heading).toHaveText(busy);
      await page.clock.runFor(1);
      await expect(heading).toHaveText(done[0]);
      await expect(page.getByRole('main').getByText(done[1])).toBeVisible();
      await expect(page.getByRole('main').getByRole('listitem')).toHaveCount(ticks);
      await page.clock.resume();
      await expectToasts(page, ...toasts);
      if (isLoggedIn) await expectToBeAccessible(page);
      expect(stub.calls('getMe')).toHaveLength(isLoggedIn ? 2 : 0);
      await page
        .getByRole('main')
        .getByRole('link', { name: isLoggedIn ? 'Go to My Account' : 'Back to Home' })
        .click();
      await page.waitForURL((url) => url.pathname === (isLoggedIn ? '/account' : '/'));
    });
  }
}

test('a payment that was left offers another try, the way home and help', async ({ page }) => {
  await open(page, '/payment-canceled');
  const main = page.getByRole('main');
  await expect(main.getByRole('heading', { name: 'Payment Not Completed' })).toBeVisible();
  await expect(main.getByRole('link', { name: 'Try Again' })).toHaveAttribute('href', '/plans');
  await expect(main.getByRole('link', { name: 'Return to Home' })).toHaveAttribute('href', '/');
  await expect(main.getByRole('link', { name: 'support@solace.example' })).toHaveAttribute(
    'href',
    'mailto:support@solace.example',
  );
});
