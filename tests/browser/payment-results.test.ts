import type { Page } from 'playwright/test';
import {
  expectToasts,
  expectToBeAccessible,
  follow,
  open,
  settle,
  stopTime,
} from './support/page.ts';
import { expect, fullUnless, isFull, stubbed as test } from './support/test.ts';

const verified = {
  success: true,
  tierUpdated: false,
  newTier: 'premium',
};
const main = (page: Page) => page.getByRole('main');
const loading = (page: Page) => page.getByText('Loading account details...');

/** Opens a page whose clock stands, and waits until its timer runs. */
async function openStopped(page: Page, path: string): Promise<void> {
  await stopTime(page);
  await open(page, path);
  await settle(page);
}

test('a successful payment updates the account after 1.5 s', async ({ page, stub }) => {
  stub.respond('verifyCheckoutSession', verified);
  await stub.signedIn();
  await openStopped(page, '/payment-success?session_id=cs_1');
  await expect(page.getByRole('heading', { name: 'Payment Successful!' })).toBeVisible();
  await expect(page.getByText('Your transaction was completed successfully.')).toBeVisible();
  await expect(loading(page)).toBeVisible();
  await expect(main(page).getByText(/Stripe customer portal/)).toBeVisible();
  await page.clock.runFor(1499);
  await settle(page);
  expect(stub.calls('getMe')).toHaveLength(1);
  await page.clock.runFor(1);
  await expect(page.getByText('Welcome aboard! Your account has been updated.')).toBeVisible();
  await expect(loading(page)).toHaveCount(0);
  expect(stub.calls('getMe')).toHaveLength(2);
  await expect(main(page).getByRole('alert')).toHaveCount(0);
  await page.clock.resume();
  await expectToBeAccessible(page);
  await follow(page.getByRole('link', { name: 'Manage My Account' }), '**/account');
  await expect(page).toHaveTitle('My Account | Solace');
});

for (const [what, body, status] of [
  [
    'unknown',
    {
      success: false,
      code: 'not_found',
      message: 'Not found',
    },
    404,
  ],
  ['not complete', { ...verified, success: false }, 200],
  [
    'refused by Stripe',
    {
      success: false,
      code: 'payment_refused',
      message: 'No.',
    },
    409,
  ],
] as const)
  test(
    `a payment whose checkout is ${what} is not called successful`,
    fullUnless(what === 'unknown'),
    async ({ page, stub }) => {
      stub.respond('verifyCheckoutSession', body, status);
      await stub.signedIn();
      await openStopped(page, '/payment-success?session_id=cs_1');
      await page.clock.runFor(1500);
      const heading = page.getByRole('heading', { level: 1 });
      await expect(heading).toHaveText('This payment could not be checked');
      await expect(page).toHaveTitle('This payment could not be checked | Solace');
      await expect(page.getByText('Payment Successful!')).toHaveCount(0);
      await expect(main(page).getByRole('link', { name: 'support@solace.example' })).toBeVisible();
      await page.clock.resume();
      if (isFull) await expectToBeAccessible(page);
      await follow(page.getByRole('link', { name: 'Manage My Account' }), '**/account');
    },
  );

test('a payment of a signed-out user leads to the login', async ({ page, stub }) => {
  await openStopped(page, '/payment-success?session_id=cs_1');
  await expect(loading(page)).toBeVisible();
  await page.clock.runFor(1500);
  await expect(
    page.getByText('Thank you for your purchase. Please log in to view your account.'),
  ).toBeVisible();
  expect(stub.calls('verifyCheckoutSession')).toEqual([]);
  await follow(page.getByRole('link', { name: 'Go to Login' }), '**/login');
});

test('a failure after the payment is shown in an alert', async ({ page, stub, expectedErrors }) => {
  expectedErrors.push(/Broken/);
  await stub.signedIn();
  await stopTime(page);
  for (const [fail, told] of [
    [
      () => stub.respond('getMe', { success: false }),
      'Failed to fully update profile after payment.',
    ],
    [
      () => page.evaluate(() => void (Promise.all = () => Promise.reject(new Error('Broken')))),
      'Error processing payment success.',
    ],
  ] as const) {
    stub.person({});
    await open(page, '/payment-success');
    await settle(page);
    await expect(loading(page)).toBeVisible();
    await fail();
    await page.clock.runFor(1500);
    await expect(main(page).getByRole('alert')).toHaveText(told);
    await expectToasts(page);
  }
});

const saved = [
  'Payment details saved',
  'Your payment method has been saved successfully.',
] as const;
const processed = ['Success!', 'Your changes have been processed successfully.'] as const;

/** The three pages share what a visitor sees. */
const returns = [
  ['/auth/stripe-success', 'a visitor', 'Processing...', processed, 0],
  ['/auth/stripe-success', 'a member', 'Processing...', processed, 0],
  ['/payment-details-saved', 'a member', 'Verifying payment setup...', saved, 3],
] as const;

for (const [path, who, busy, done, ticks] of returns)
  test(
    `${path} is done after 2 s, for ${who}`,
    fullUnless(who === 'a visitor' || done === saved),
    async ({ page, stub }) => {
      const isMember = who === 'a member';
      stub.respond('verifyCheckoutSession', verified);
      if (isMember) await stub.signedIn();
      await openStopped(page, `${path}?session_id=cs_1`);
      const heading = page.getByRole('heading', { level: 1 });
      await page.clock.runFor(1999);
      await settle(page);
      await expect(heading).toHaveText(busy);
      await page.clock.runFor(1);
      await expect(heading).toHaveText(done[0]);
      await expect(main(page).getByText(done[1])).toBeVisible();
      await expect(main(page).getByRole('listitem')).toHaveCount(ticks);
      // Before the clock goes on: later the live stream may read the profile, too.
      await expect.poll(() => stub.calls('getMe').length).toBe(isMember ? 2 : 0);
      await page.clock.resume();
      await expectToasts(page, ...(done === saved ? [saved] : []));
      // The pages look the same; the one of a payment is always looked at.
      if (isFull) await expectToBeAccessible(page);
      const [name, target] = isMember ? ['Go to My Account', '/account'] : ['Back to Home', '/'];
      await follow(main(page).getByRole('link', { name }), ({ pathname }) => pathname === target);
    },
  );

for (const path of ['/payment-details-saved', '/auth/stripe-success'])
  test(
    `${path} calls nothing done whose checkout is unknown`,
    fullUnless(!path.startsWith('/auth')),
    async ({ page, stub }) => {
      const missing = {
        success: false,
        code: 'not_found',
        message: 'Not found',
      };
      stub.respond('verifyCheckoutSession', missing, 404);
      await stub.signedIn();
      await openStopped(page, `${path}?session_id=cs_nope`);
      await page.clock.runFor(2000);
      const heading = page.getByRole('heading', { level: 1 });
      await expect(heading).toHaveText('This could not be checked');
      await expect(main(page).getByRole('listitem')).toHaveCount(0);
      await page.clock.resume();
      await expectToasts(page);
      await follow(page.getByRole('link', { name: 'Go to My Account' }), '**/account');
    },
  );

test('a saved card whose plan was refused says so, and leads to the plans', async ({
  page,
  stub,
}) => {
  stub.respond('verifyCheckoutSession', {
    ...verified,
    planRefused: true,
  });
  await stub.signedIn();
  await openStopped(page, '/payment-details-saved?session_id=cs_1');
  await page.clock.runFor(2000);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(
    'Your card is saved, but no plan was booked',
  );
  await expect(main(page).getByText(/could not be booked\. Nothing was charged/)).toBeVisible();
  await expect(main(page).getByRole('listitem')).toHaveCount(0);
  await page.clock.resume();
  await follow(main(page).getByRole('link', { name: 'Choose a plan' }), '**/plans');
});

test('a payment that was left offers another try, the way home and help', async ({ page }) => {
  await open(page, '/payment-canceled');
  await expect(main(page).getByRole('heading', { name: 'Payment Not Completed' })).toBeVisible();
  for (const [name, href] of [
    ['Try Again', '/plans'],
    ['Return to Home', '/'],
    ['support@solace.example', 'mailto:support@solace.example'],
  ] as const)
    await expect(main(page).getByRole('link', { name })).toHaveAttribute('href', href);
});
