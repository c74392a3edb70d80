import { expect, stopTime, test } from './support/stubbed.ts';

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
      await page.goto(path, { waitUntil: 'domcontentloaded' });
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
