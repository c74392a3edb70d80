import type { Page } from 'playwright/test';
import { expectToasts, open, openAccount, returnToTab, stopTime, storedToken } from './support/page.ts';
import { expect, test } from './support/stubbed.ts';

type Who = 'visitor' | 'member' | 'pending';

/** Each route with its heading, its title, and the redirect of visitors without access. */
const rows: { path: string; heading: string | RegExp; title: string; sent?: Partial<Record<Who, string>> }[] = [
  {
    path: '/',
    heading: /Your AI Companion for Psychological Well-Being$/,
    title: 'Solace: Your AI Companion for Psychological Well-Being',
  },
  {
    path: '/login',
    heading: 'Log in to Solace',
    title: 'Log in | Solace',
    sent: { member: '/account', pending: '/pending-approval' },
  },
  { path: '/plans', heading: 'Choose Your Plan', title: 'Choose Your Plan | Solace' },
  {
    path: '/account',
    heading: 'My Account',
    title: 'My Account | Solace',
    sent: { visitor: '/login', pending: '/pending-approval' },
  },
  {
    path: '/pending-approval',
    heading: 'Account Pending Approval',
    title: 'Account Pending Approval | Solace',
    sent: { visitor: '/login', member: '/account' },
  },
  { path: '/payment-success', heading: 'Payment Successful!', title: 'Payment Successful | Solace' },
  { path: '/payment-canceled', heading: 'Payment Not Completed', title: 'Payment Not Completed | Solace' },
  { path: '/auth/stripe-success', heading: 'Processing...', title: 'Processing | Solace' },
  { path: '/payment-details-saved', heading: 'Verifying payment setup...', title: 'Payment Details Saved | Solace' },
  { path: '/activate-trial', heading: 'Activation Failed', title: 'Activate Your Trial | Solace' },
  {
    path: '/cancel',
    heading: 'Cancel subscription',
    title: 'Cancel subscription | Solace',
    sent: { visitor: '/login', pending: '/pending-approval' },
  },
  { path: '/terms', heading: 'Terms and Conditions', title: 'Terms and Conditions | Solace' },
  { path: '/privacy', heading: 'Privacy Policy', title: 'Privacy Policy | Solace' },
  { path: '/contact', heading: 'Contact Us', title: 'Contact | Solace' },
  { path: '/help-now', heading: 'Get help now', title: 'Get help now | Solace' },
  { path: '/safety', heading: 'Safety', title: 'Safety | Solace' },
  { path: '/nope', heading: 'Page Not Found', title: 'Page Not Found | Solace' },
];

for (const who of ['visitor', 'member', 'pending'] as const) {
  test(`every route shows its page to a ${who} or redirects`, async ({ page, stub, expectedErrors }) => {
    expectedErrors.push(/status of 404/);
    await stopTime(page);
    if (who !== 'visitor') await stub.signedIn({ status: who === 'pending' ? 'pending' : 'approved' });
    // Elsewhere, a pending user is treated as signed in.
    for (const { path, sent } of rows.filter((row) => who !== 'pending' || row.sent)) {
      const end = rows.find((row) => row.path === (sent?.[who] ?? path))!;
      await open(page, path);
      await expect(page.getByRole('heading', { level: 1 }), `${who} ${path}`).toHaveText(end.heading);
      await expect(page).toHaveTitle(end.title);
      expect(new URL(page.url()).pathname).toBe(end.path);
    }
  });
}

test('an unknown path shows the 404 page and leads home', async ({ page, expectedErrors }) => {
  expectedErrors.push(/status of 404/);
  await page.goto('/some/where/else');
  const main = page.getByRole('main');
  await expect(main.getByRole('heading', { name: 'Page Not Found' })).toBeVisible();
  await expect(main.getByText("The page you're looking for doesn't exist or has been moved.")).toBeVisible();
  await main.getByRole('link', { name: 'Return to Home' }).click();
  await page.waitForURL((url) => url.pathname === '/');
});

const bar = (page: Page) => page.getByRole('banner');
const marks = [
  { path: '/', visitor: 'Home', member: 'Home' },
  { path: '/plans', visitor: null, member: null },
  { path: '/login', visitor: 'Login', member: 'My Account' },
  { path: '/account', visitor: 'Login', member: 'My Account' },
  { path: '/contact', visitor: null, member: null },
  { path: '/nope', visitor: null, member: null },
] as const;

for (const who of ['visitor', 'member'] as const) {
  test(`the header of a ${who} marks where they are`, async ({ page, stub, expectedErrors }) => {
    expectedErrors.push(/status of 404/);
    const accountLink = who === 'member' ? ['My Account', '/account'] : ['Login', '/login'];
    if (who === 'member') await stub.signedIn();
    for (const row of marks) {
      await open(page, row.path);
      const links = bar(page).getByRole('navigation').getByRole('link');
      await expect(links).toHaveText(['Home', accountLink[0]!]);
      await expect(links.nth(0)).toHaveAttribute('href', '/');
      await expect(links.nth(1)).toHaveAttribute('href', accountLink[1]!);
      await expect(bar(page).getByRole('link', { name: 'Solace, home' })).toHaveAttribute('href', '/');
      const active = row[who];
      await expect(bar(page).locator('nav [aria-current=page]')).toHaveText(active ? [active] : []);
    }
  });
}

test('the active button looks different', async ({ page }) => {
  await open(page, '/');
  const colour = (name: string) =>
    bar(page)
      .getByRole('link', { name, exact: true })
      .evaluate((link) => getComputedStyle(link).backgroundColor);
  expect(await colour('Home')).not.toBe(await colour('Login'));
});

test('the colours are changed by a button and stored', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await open(page, '/plans');
  const paper = () => page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
  const dark = await paper();
  await page.getByRole('button', { name: 'Switch to light colours' }).click();
  await expect.poll(paper).not.toBe(dark);
  await open(page, '/');
  await expect(page.getByRole('button', { name: 'Switch to dark colours' })).toBeVisible();
  expect(await paper()).not.toBe(dark);
});

test('a pending user sees the pending page, and can log out', async ({ page, stub }) => {
  await stub.signedIn({ status: 'pending' });
  await open(page, '/pending-approval');
  await expect(page.getByRole('heading', { name: 'Account Pending Approval' })).toBeVisible();
  const main = page.getByRole('main');
  await expect(main).toContainText('The account for +1 555-123-4567 awaits approval.');
  await expect(main).toContainText('You will be notified through your preferred messaging platform');
  await main.getByRole('button', { name: 'Logout' }).click();
  await page.waitForURL((url) => url.pathname === '/');
  await expectToasts(page, ['Logged out successfully']);
  expect(await storedToken(page)).toBeNull();
});

test('a pending user can withdraw consent', async ({ page, stub, expectedErrors }) => {
  expectedErrors.push(/status of 503/);
  await stub.signedIn({ status: 'pending' });
  await open(page, '/pending-approval');
  const withdraw = async (button: string) => {
    await page.getByRole('main').getByRole('button', { name: 'Withdraw consent' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Withdraw your consent?' });
    await expect(dialog).toContainText('This deletes your conversation with Solace on this site.');
    await dialog.getByRole('button', { name: button }).click();
    await expect(dialog).toHaveCount(0);
  };
  await withdraw('Cancel');
  expect(stub.calls('deleteChatConsent')).toEqual([]);
  stub.respond('deleteChatConsent', { success: false, code: 'unavailable', message: 'Service unavailable' }, 503);
  await withdraw('Withdraw consent');
  await expectToasts(page, ['Server error. Please try again later.']);
  stub.respond('deleteChatConsent', { success: true, consent: null });
  await withdraw('Withdraw consent');
  await expect(page.getByText('Consent withdrawn')).toBeVisible();
  expect(stub.calls('deleteChatConsent')).toHaveLength(2);
});

test('a user approved meanwhile gets to the account on returning', async ({ page, stub }) => {
  await stub.signedIn({ status: 'pending' });
  await open(page, '/pending-approval');
  await expect(page.getByRole('heading', { name: 'Account Pending Approval' })).toBeVisible();
  stub.person({ status: 'approved' });
  await returnToTab(page);
  await page.waitForURL('**/account');
});

test('a user set back to pending is redirected from the account', async ({ page, stub }) => {
  await openAccount(page, stub);
  const refused = { success: false, code: 'pending_approval', message: 'Your account is awaiting approval.' };
  stub.respond('createPortalSession', refused, 403);
  await page.getByRole('button', { name: 'Billing Management' }).click();
  await page.waitForURL('**/pending-approval');
  await expectToasts(page);
});
