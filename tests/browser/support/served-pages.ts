import { expect, type Page } from 'playwright/test';

/** The public pages and their main headings. */
export const publicPages = [
  ['/', 'Solace Your AI Companion for Psychological Well-Being'],
  ['/plans', 'Choose Your Plan'],
  ['/login', 'Log in to Solace'],
  ['/contact', 'Contact Us'],
  ['/terms', 'Terms and Conditions'],
  ['/privacy', 'Privacy Policy'],
  ['/help-now', 'Get help now'],
  ['/safety', 'Safety'],
  ['/nope', 'Page Not Found'],
] as const;

export const privatePages = [
  '/account',
  '/pending-approval',
  '/payment-success',
  '/payment-canceled',
  '/auth/stripe-success',
  '/payment-details-saved',
  '/activate-trial',
];

/** Opens a path and waits until loading has ended and React has hydrated the page. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(path, { waitUntil: 'networkidle' });
  await expect(page.getByRole('button', { name: /^Switch to/ })).toBeVisible();
}
