import type { Page } from 'playwright/test';
import { dismissNotices, expect, expectNotices, open, stopTime, test } from './support/stubbed.ts';

const card = (page: Page) => page.getByRole('region', { name: 'Messaging Platform' });
const whatsapp = (page: Page) => card(page).getByRole('radio', { name: 'Receive messages via WhatsApp' });
const web = (page: Page) => card(page).getByRole('radio', { name: 'Chat through the web interface' });
const update = (page: Page) => card(page).getByRole('button', { name: 'Update Platform' });

test('the platform is changed once the choice differs, and can be changed back', async ({ page, stub }) => {
  await stub.signedIn();
  await open(page, '/account');
  await expect(whatsapp(page)).toBeChecked();
  await expect(update(page)).toHaveCount(0);
  await card(page).getByText('Chat through the web interface').click();
  stub.respond('putPlatform', { success: true, platform: 'web' });
  await update(page).click();
  await expectNotices(page, ['Platform updated', 'You will now receive messages via Web']);
  expect(stub.calls('putPlatform')).toMatchObject([{ body: { platform: 'web' }, token: 'Bearer e2e-token' }]);
  await expect(update(page)).toHaveCount(0);

  await dismissNotices(page);
  await card(page).getByText('Receive messages via WhatsApp').click();
  stub.respond('putPlatform', { success: true, platform: 'whatsapp' });
  await update(page).click();
  await expectNotices(page, ['Platform updated', 'You will now receive messages via WhatsApp']);
});

test('a choice that is undone makes no call', async ({ page, stub }) => {
  stub.respond('getPlatform', { success: true, platform: 'web' });
  await stub.signedIn();
  await open(page, '/account');
  await expect(web(page)).toBeChecked();
  await card(page).getByText('Receive messages via WhatsApp').click();
  await expect(update(page)).toBeVisible();
  await card(page).getByText('Chat through the web interface').click();
  await expect(update(page)).toHaveCount(0);
});

test('a failed update keeps the choice and says why', async ({ page, stub }) => {
  await stub.signedIn();
  await open(page, '/account');
  await card(page).getByText('Chat through the web interface').click();
  const failing = [
    [() => stub.respond('putPlatform', { success: false, message: 'Not today.' }), 'Update failed', 'Not today.'],
    [() => stub.respond('putPlatform', { success: false }), 'Update failed', 'Failed to update platform preference'],
    [() => stub.respond('putPlatform', { message: 'Not now.' }, 409), 'Update failed', 'Not now.'],
    [() => stub.disconnect('putPlatform'), 'Error', 'Failed to update platform preference'],
  ] as const;
  for (const [arrange, title, text] of failing) {
    arrange();
    await update(page).click();
    await expectNotices(page, [title, text]);
    await dismissNotices(page);
  }
  await expect(web(page)).toBeChecked();
});

test('there is no card without a known preference', async ({ page, stub }) => {
  const release = stub.hold('getPlatform');
  await stub.signedIn();
  await open(page, '/account');
  await expect(card(page)).toHaveAttribute('aria-busy', 'true');
  stub.respond('getPlatform', { success: false });
  await page.reload();
  await expect(page.getByRole('region', { name: 'Account Management' })).toBeVisible();
  await expect(card(page)).toHaveCount(0);
  release();
});

test('a preference that cannot be loaded shows one error, after a retry', async ({ page, stub }) => {
  await stopTime(page);
  stub.respond('getPlatform', {}, 503);
  await stub.signedIn();
  await open(page, '/account');
  await expect.poll(() => stub.calls('getPlatform').length).toBe(1);
  await expect(card(page)).toHaveAttribute('aria-busy', 'true');
  await page.clock.resume();
  await expectNotices(page, ['Server error. Please try again later.']);
  expect(stub.calls('getPlatform')).toHaveLength(2);
  await expect(card(page)).toHaveCount(0);
});
