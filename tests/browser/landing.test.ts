import type { Page } from 'playwright/test';
import { layoutShift } from './support/first-paint.ts';
import { open } from './support/page.ts';
import { expect, stubbed as test } from './support/test.ts';

const chat = 'https://wa.me/15550100199';

test('the home page says what the product is and who is behind it', async ({ page }) => {
  await open(page, '/');
  const main = page.getByRole('main');
  await expect(main.getByRole('heading', { level: 1 })).toHaveText(
    /^Solace\s*Your AI Companion for Psychological Well-Being$/,
  );
  for (const title of ['Why Solace?', 'What Our Users Say', 'Flexible Plans to Fit Your Needs'])
    await expect(main.getByRole('heading', { level: 2, name: title })).toBeVisible();
  for (const title of ['Text & Voice Support', 'Privacy First', 'CBT-Based Approach', 'Always Available'])
    await expect(main.getByRole('heading', { level: 3, name: title })).toBeVisible();
  for (const claim of [/no app download/i, /fully encrypted/i, /cognitive behavioural therapy/, /24 hours a day/])
    await expect(main.getByText(claim).first()).toBeVisible();
  const tryIt = main.getByRole('link', { name: 'Try Solace on WhatsApp (Free)' });
  await expect(tryIt).toHaveAttribute('href', chat);
  await expect(tryIt).toHaveAttribute('rel', /noopener/);
  await expect(main.getByRole('link', { name: 'Choose Your Plan' })).toHaveAttribute('href', '/plans');

  const footer = page.getByRole('contentinfo');
  await expect(footer.getByRole('link', { name: 'Contact Us' })).toHaveAttribute('href', '/contact');
  await expect(footer.getByText(/^© 2025 Solace Wellness, Inc\./)).toBeVisible();
  await expect(footer.getByText(/well-being and self-help/)).toBeVisible();
  await expect(footer.getByRole('link', { name: /\+1 \(555\) 010-0199/ })).toHaveAttribute('href', 'tel:+15550100199');

  const carousel = page.getByRole('region', { name: 'What Our Users Say' });
  const next = carousel.getByRole('button', { name: 'Next story' });
  await expect(carousel.getByRole('listitem')).toHaveCount(3);
  await next.scrollIntoViewIfNeeded();
  for (const position of [1, 2, 3]) {
    await expect(carousel.getByRole('status')).toHaveText(`Story ${position} of 3`);
    await expect(carousel.getByRole('listitem').nth(position - 1)).toBeInViewport({ ratio: 0.9 });
    if (position < 3) await next.click();
  }
  await expect(next).toBeDisabled();

  await expect(teaser(page).getByRole('link')).toHaveText(Array(4).fill('Get Started'));
  await teaser(page).getByRole('link').nth(2).click();
  await page.waitForURL('**/login');
});

const teaser = (page: Page) => page.getByRole('region', { name: 'Flexible Plans' }).getByRole('listitem');

test('nothing moves for a member, and the plans lead nowhere until the member is known', async ({ page, stub }) => {
  await stub.signedIn();
  for (const width of [412, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    const release = stub.hold('getMe');
    await open(page, '/');
    const buttons = teaser(page).getByRole('link');
    await buttons.first().click();
    const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    await expect(links).toHaveText(['Home', /My Account$/]);
    await expect(page.getByText('Loading application...')).toBeVisible();
    release();
    await expect(buttons).toHaveText(Array(4).fill('Manage Plan'));
    await expect(page.getByText('Loading application...')).toBeHidden();
    expect(new URL(page.url()).pathname).toBe('/');
    expect(await layoutShift(page), `${width} px`).toBe(0);
    await buttons.nth(2).click();
    await page.waitForURL('**/account');
  }
});
