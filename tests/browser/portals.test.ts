import type { Page } from 'playwright/test';
import { elsewhere, servePayments } from './support/stub.ts';
import { dismissNotices, expect, expectNotices, open, stopTime, test } from './support/stubbed.ts';

const card = (page: Page) => page.getByRole('region', { name: 'Account Management' });
const subscriber = { tier: 'basic', renewalDate: '2025-01-05T09:00:00.000Z' };

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
    await stub.signedIn(subscriber);
    await open(page, '/account');
    await card(page).getByRole('button', { name: button }).click();
    await expect(card(page).getByRole('button', { name: busy, exact: true })).toBeDisabled();
    for (const other of await card(page).getByRole('button').all()) await expect(other).toBeDisabled();
    const tab = context.waitForEvent('page');
    release();
    await (await tab).waitForURL(`${elsewhere}/portal`);
    expect(await (await tab).evaluate(() => window.opener)).toBeNull();
    await expectNotices(page, opened);
    await expect(card(page).getByRole('button', { name: button })).toBeEnabled();
  });

  test(`${button} opens the portal here after half a second where tabs are blocked`, async ({ page, stub }) => {
    await page.addInitScript(() => void (window.open = () => null));
    stub.respond(name, { success: true, portalUrl: `${elsewhere}/portal` });
    await servePayments(page);
    await stub.signedIn(subscriber);
    await stopTime(page);
    await open(page, '/account');
    await card(page).getByRole('button', { name: button }).click();
    await expect(card(page).getByRole('button', { name: button })).toBeEnabled();
    // A part that is shown for the first time renders in separate steps.
    let passed = 0;
    const step = async () => {
      await page.clock.runFor(passed < 490 ? 10 : 0);
      passed = Math.min(490, passed + 10);
      return page.getByRole('region', { name: /^Notifications/ }).count();
    };
    await expect.poll(step, { intervals: [100] }).toBe(1);
    await page.clock.runFor(499 - passed);
    await expectNotices(page, blocked);
    expect(new URL(page.url()).pathname).toBe('/account');
    await page.clock.runFor(1);
    await page.waitForURL(`${elsewhere}/portal`);
  });

  test(`${button} says once why there is no portal`, async ({ page, stub }) => {
    await stub.signedIn(subscriber);
    await open(page, '/account');
    const failing = [
      [() => stub.respond(name, { success: false, message: 'The desk is closed.' }), 'The desk is closed.'],
      [() => stub.respond(name, { success: false }), nothing],
      [() => stub.respond(name, { success: true }), nothing],
      [() => stub.respond(name, {}, 404), failed],
    ] as const;
    for (const [arrange, text] of failing) {
      arrange();
      await card(page).getByRole('button', { name: button }).click();
      await expectNotices(page, ['Error', text]);
      await dismissNotices(page);
    }
  });
}

test('an address of our own opens in its place', async ({ page, stub }) => {
  stub.respond('createSubscriptionUpdateSession', { success: true, portalUrl: '/plans' });
  await stub.signedIn();
  await open(page, '/account');
  await card(page).getByRole('button', { name: 'Upgrade Your Plan' }).click();
  await expect(page.getByRole('heading', { name: 'Choose Your Plan' })).toBeVisible();
});
