import { pageOf } from './support/chat.ts';
import { holdAssets, layoutShift } from './support/first-paint.ts';
import { expect, test } from './support/stubbed.ts';

test('the account shows before the scripts; neither it nor the chat moves', async ({ page, stub }) => {
  const renewalDate = '2025-03-11T09:00:00.000Z';
  await stub.signedIn({ tier: 'premium', subscriptionStatus: 'trialing', renewalDate, used: 3 });
  const texts = ['+1 555-123-4567', 'Premium', 'Trial ends on March 11, 2025', 'Messages used this week:', '3 / 70'];
  stub.respond('getChat', pageOf([], { consent: null }));
  stub.openStream('usageStream');
  for (const width of [360, 768, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    const release = await holdAssets(page);
    await page.goto('/account', { waitUntil: 'commit' });
    for (const text of texts) await expect(page.getByRole('main').getByText(text, { exact: true })).toBeVisible();
    await expect(page.getByText('Loading application...')).toBeVisible();
    await expect(page.getByRole('main').getByRole('link', { name: 'Get help now' })).toBeVisible();
    release();
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await expect(page.getByRole('radio').first()).toBeAttached();
    expect(await layoutShift(page), `the account at ${width} px`).toBe(0);
    await page.unrouteAll({ behavior: 'wait' });
    await page.goto('/chat');
    await expect(page.getByRole('checkbox').first()).toBeVisible();
    expect(await layoutShift(page), `the chat at ${width} px`).toBe(0);
  }
});
