import type { Page } from 'playwright/test';
import { dismissToasts, expectToasts, open, openAccount, returnToTab, shownToasts, stopTime } from './support/page.ts';
import { elsewhere, type Person, servePayments } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';

const management = (page: Page) => page.getByRole('region', { name: 'Account Management' });
const dated = { renewalDate: '2025-01-05T09:00:00.000Z' };
const cancelled = { ...dated, cancelAtDate: '2025-01-05T09:00:00.000Z' };

const changeNumber = (page: Page) => management(page).getByRole('button', { name: 'Change Number', exact: true });

/** One row for each field of the profile that the button reads; tests/rules has every case. */
const buttons: [Person, string, string][] = [
  [{ tier: 'free' }, 'Upgrade Your Plan', 'Access our plans and upgrade to unlock more features'],
  [
    { tier: 'premium', isTrial: true, subscriptionStatus: 'trialing', scheduled: 'basic', ...dated },
    'Manage Scheduled Plan',
    'Modify or cancel your scheduled plan',
  ],
  [
    { tier: 'premium', isTrial: true, scheduled: 'basic', ...cancelled },
    'Manage Cancellation',
    'Reactivate your subscription or change your plan',
  ],
  [
    { tier: 'basic', subscriptionStatus: 'past_due', ...dated },
    'Manage Subscription',
    'View billing history and manage payment methods',
  ],
];

test('the subscription button says what it is for', async ({ page, stub }) => {
  await openAccount(page, stub);
  for (const [index, [person, label, hint]] of buttons.entries()) {
    // The count identifies the shown row.
    stub.person({ ...person, used: index + 1 });
    await returnToTab(page);
    await expect(page.getByText(new RegExp(`^${index + 1} / \\d+$`))).toBeVisible();
    const button = management(page).getByRole('button', { name: label, exact: true });
    await expect(button, JSON.stringify(person)).toHaveAccessibleDescription(hint);
  }
  await expect(management(page).getByRole('button', { name: 'Billing Management' })).toHaveAccessibleDescription(
    'Access payment details, invoices, and subscription info',
  );
});

const subscriber = { tier: 'basic', renewalDate: '2025-01-05T09:00:00.000Z' };

/** Shows a first toast, which loads the part that shows toasts, while the clock stands still. */
async function loadToasts(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Refresh plan' }).click();
  const show = async () => {
    await page.clock.runFor(100);
    return (await shownToasts(page)).length;
  };
  await expect.poll(show, 'the first toast').toBe(1);
}

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
  test(`${button} opens the portal in a new tab`, async ({ page, context, stub }) => {
    stub.respond(name, { success: true, portalUrl: `${elsewhere}/portal` });
    await servePayments(page);
    const release = stub.hold(name);
    await openAccount(page, stub, subscriber);
    await management(page).getByRole('button', { name: button }).click();
    await expect(management(page).getByRole('button', { name: busy, exact: true })).toBeDisabled();
    for (const other of await management(page).getByRole('button').all()) await expect(other).toBeDisabled();
    const tab = context.waitForEvent('page');
    release();
    await (await tab).waitForURL(`${elsewhere}/portal`);
    expect(await (await tab).evaluate(() => window.opener)).toBeNull();
    await expectToasts(page, opened);
    await expect(management(page).getByRole('button', { name: button })).toBeEnabled();
  });

  test(`${button} opens the portal here after half a second where tabs are blocked`, async ({ page, stub }) => {
    await page.addInitScript(() => void (window.open = () => null));
    stub.respond(name, { success: true, portalUrl: `${elsewhere}/portal` });
    await servePayments(page);
    await stub.signedIn(subscriber);
    await stopTime(page);
    await open(page, '/account');
    await loadToasts(page);
    await management(page).getByRole('button', { name: button }).click();
    await expect(management(page).getByRole('button', { name: button })).toBeEnabled();
    await page.clock.runFor(499);
    await expectToasts(page, ['Success', 'Profile refreshed successfully'], blocked);
    expect(new URL(page.url()).pathname).toBe('/account');
    await page.clock.runFor(1);
    await page.waitForURL(`${elsewhere}/portal`);
  });

  test(`${button} says once why there is no portal`, async ({ page, stub }) => {
    await openAccount(page, stub, subscriber);
    const failing = [
      [() => stub.respond(name, { success: false, message: 'The desk is closed.' }), 'The desk is closed.'],
      [() => stub.respond(name, { success: false }), nothing],
      [() => stub.respond(name, { success: true }), nothing],
      [() => stub.respond(name, {}, 404), failed],
    ] as const;
    for (const [arrange, text] of failing) {
      arrange();
      await management(page).getByRole('button', { name: button }).click();
      await expectToasts(page, ['Error', text]);
      await dismissToasts(page);
    }
  });
}

test('an address of our own opens in its place', async ({ page, stub }) => {
  stub.respond('createSubscriptionUpdateSession', { success: true, portalUrl: '/plans' });
  await openAccount(page, stub);
  await management(page).getByRole('button', { name: 'Upgrade Your Plan' }).click();
  await expect(page.getByRole('heading', { name: 'Choose Your Plan' })).toBeVisible();
});

test('the number changes with the code that the new number received', async ({ page, stub }) => {
  await openAccount(page, stub);
  stub.respond('beginPhoneChange', { success: true, challenge: 'challenge' });
  await changeNumber(page).click();
  const phone = management(page).getByLabel('New phone number');
  await expect(phone).toBeFocused();
  await phone.fill('5559876543');
  await management(page).getByRole('button', { name: 'Send Code' }).click();
  await expect(phone).toHaveAccessibleErrorMessage('Please include country code (e.g., +1234567890)');
  await phone.fill('+1 555 987 6543');
  await management(page).getByRole('button', { name: 'Send Code' }).click();
  const code = management(page).getByLabel('Verification code');
  await expect(code).toBeFocused();
  stub.respond('verifyPhoneChange', {
    success: true,
    profile: {
      phoneNumber: '+15559876543',
      status: 'approved',
      isTrial: false,
      messagesUsedThisPeriod: 0,
      metadata: {
        subscriptionTier: 'free',
        messagesUsedThisPeriod: 0,
        subscriptionStatus: 'active',
        renewalDate: null,
        cancelAtDate: null,
        scheduledDowngradeTierId: null,
      },
    },
  });
  await code.fill('123456');
  await changeNumber(page).click();
  await expect(page.getByText('Number changed')).toBeVisible();
  await expect(page.getByRole('main').getByText('+1 555-987-6543').first()).toBeVisible();
  await expect(changeNumber(page)).toHaveAccessibleDescription(/^Move your account to another number/);
  expect(stub.calls('beginPhoneChange')).toMatchObject([{ body: { phone: '+15559876543' } }]);
  expect(stub.calls('verifyPhoneChange')).toMatchObject([
    { body: { phone: '+15559876543', otp: '123456', challenge: 'challenge' } },
  ]);
});

test('somebody who keeps the number sees the account as it was', async ({ page, stub }) => {
  await openAccount(page, stub);
  await changeNumber(page).click();
  await management(page).getByRole('button', { name: 'Keep My Number' }).click();
  await expect(changeNumber(page)).toBeVisible();
  expect(stub.calls('beginPhoneChange')).toEqual([]);
});
