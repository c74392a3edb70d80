import type { Page } from 'playwright/test';
import {
  expectToasts,
  follow,
  open,
  openAccount,
  returnToTab,
  settle,
  shownToasts,
  storedToken,
  takeToasts,
} from './support/page.ts';
import { expect, isFull, stubbed as test } from './support/test.ts';

test('the header shows the number and the ways to the chat and out; it follows the profile', async ({
  page,
  stub,
}) => {
  await openAccount(page, stub);
  const main = page.getByRole('main');
  await expect(main.getByText('+1 555-123-4567', { exact: true })).toBeVisible();
  const chat = main.getByRole('link', { name: 'Chat with Solace' });
  await expect(chat).toHaveAttribute('href', 'https://wa.me/15550100199');
  await expect(chat).toHaveAttribute('target', '_blank');
  await expect(chat).toHaveAttribute('rel', /noopener/);
  await expect(main.getByRole('link', { name: 'Get help now' })).toHaveAttribute(
    'href',
    '/help-now',
  );
  await expect(page.getByRole('banner').locator('nav [aria-current=page]')).toHaveText(
    'My Account',
  );

  // The profile is fetched when the tab is seen again.
  stub.person({
    phoneNumber: '+447911123456',
    tier: 'basic',
    subscriptionStatus: 'past_due',
  });
  await returnToTab(page);
  await expect(main.getByText('+44 791-112-3456', { exact: true })).toBeVisible();

  const debug = page.getByRole('region', { name: 'Debug' });
  await expect(debug).toHaveCount(0);
  await page.keyboard.press('Control+Shift+D');
  await expect(debug).toContainText('past_due');
  for (const secret of ['e2e-token', '1123456']) await expect(debug).not.toContainText(secret);
  await page.keyboard.press('Control+Shift+D');
  await expect(debug).toHaveCount(0);

  stub.person({ phoneNumber: null });
  await returnToTab(page);
  await expect(main.getByText('Invalid Number', { exact: true })).toBeVisible();
  const release = stub.hold('getMe');
  await page.getByRole('button', { name: 'Refresh plan' }).click();
  await expect(page.getByText('Loading user data...')).toBeVisible();
  release();
  await expect(main.getByText('Invalid Number', { exact: true })).toBeVisible();
});

test('logging out ends the session, here and in the history, whatever arrives later', async ({
  page,
  stub,
}) => {
  await openAccount(page, stub);
  const release = stub.hold('getMe');
  await page.getByRole('button', { name: 'Refresh plan' }).click();
  await settle(page);
  await follow(page.getByRole('button', { name: 'Logout' }), '**/login');
  await expectToasts(page, ['Logged out successfully']);
  release();
  await settle(page);
  await expect(
    page.getByRole('link', {
      name: 'Login',
      exact: true,
    }),
  ).toBeVisible();
  expect(await storedToken(page)).toBeNull();
  expect(stub.calls('logout')).toMatchObject([{ token: 'Bearer e2e-token' }]);
  await page.goBack();
  await expect(page.getByRole('button', { name: 'Logout' })).toHaveCount(0);
  await open(page, '/account');
  await page.waitForURL('**/login');
});

const same = { success: true, tierUpdated: false, newTier: 'free' };
const updated = {
  success: true,
  tierUpdated: true,
  newTier: 'premium',
};

/** The response about the session with which the payment provider sends back, and the one toast. */
const returns: [
  body: object,
  status: number,
  type: string,
  toast: [title: string, description?: string],
][] = [
  [updated, 200, 'success', ['Plan Updated', 'Your plan has been updated to Premium']],
  [{ ...same, message: 'All is well.' }, 200, 'success', ['All is well.']],
  [{}, 503, 'error', ['Server error. Please try again later.']],
];

test('the return from the payment provider shows the new plan and cleans the address', async ({
  page,
  stub,
}) => {
  await stub.signedIn({
    tier: 'premium',
    renewalDate: '2025-01-05T09:00:00.000Z',
  });
  // The message of a read is not shown.
  stub.respond('getPlatform', {
    success: true,
    platform: 'whatsapp',
    message: 'Read.',
  });
  const openReturn = async (search: string) => {
    await open(page, `/account${search}`);
    await expect.poll(() => new URL(page.url()).search, search).toBe('');
    await expect(card(page).getByRole('radio').first()).toBeVisible();
  };
  for (const [index, [body, status, type, toast]] of returns.entries()) {
    stub.respond('verifyCheckoutSession', body, status);
    await openReturn(`?session_id=cs_${index}`);
    await expectToasts(page, toast);
    expect((await shownToasts(page))[0]!.type, toast[0]).toBe(type);
    expect(stub.calls('verifyCheckoutSession')[index]).toMatchObject({
      body: { sessionId: `cs_${index}` },
    });
    if (body === updated) expect(stub.calls('getMe').length).toBeGreaterThan(1);
  }
  for (const status of isFull ? ['success', 'cancelled'] : ['success']) {
    const fetched = stub.calls('getMe').length;
    await openReturn(`?status=${status}`);
    await expectToasts(page);
    expect(stub.calls('getMe').length - fetched, status).toBeGreaterThan(1);
  }
  expect(stub.calls('verifyCheckoutSession')).toHaveLength(returns.length);
});

test('a return that is opened again says nothing again', async ({ page, stub }) => {
  await stub.signedIn({ tier: 'premium' });
  stub.respond('verifyCheckoutSession', updated);
  const said = [['Plan Updated', 'Your plan has been updated to Premium']] as const;
  for (const toasts of [said, []]) {
    await open(page, '/account?session_id=cs_1');
    await expect.poll(() => new URL(page.url()).search).toBe('');
    // Its toast comes after all others.
    await page.getByRole('button', { name: 'Refresh plan' }).click();
    await expectToasts(page, ...toasts, ['Success', 'Profile refreshed successfully']);
  }
});

test('the return from the payment provider leaves alone who has opened another page', async ({
  page,
  stub,
}) => {
  await stub.signedIn();
  stub.respond('verifyCheckoutSession', updated);
  const release = stub.hold('verifyCheckoutSession');
  await open(page, '/account?session_id=cs_1');
  await follow(page.getByRole('link', { name: 'Get help now' }).first(), '**/help-now');
  release();
  await expectToasts(page, ['Plan Updated', 'Your plan has been updated to Premium']);
  expect(new URL(page.url()).pathname).toBe('/help-now');
});

test(
  'the return from the payment provider moves nobody who reads on',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stub.signedIn();
    stub.respond('verifyCheckoutSession', updated);
    const release = stub.hold('verifyCheckoutSession');
    await open(page, '/account?session_id=cs_1');
    await page.getByRole('contentinfo').scrollIntoViewIfNeeded();
    const place = await page.evaluate(() => scrollY);
    release();
    await expect.poll(() => new URL(page.url()).search).toBe('');
    await settle(page);
    expect(place).toBeGreaterThan(0);
    expect(await page.evaluate(() => scrollY)).toBe(place);
  },
);

const card = (page: Page) => page.getByRole('region', { name: 'Messaging Platform' });

test('the platform changes once the choice differs, and back; a failure says why', async ({
  page,
  stub,
}) => {
  await openAccount(page, stub);
  const update = card(page).getByRole('button', { name: 'Update Platform' });
  const whatsapp = card(page).getByText('Receive messages via WhatsApp');
  const web = card(page).getByText('Chat through the web interface');
  await expect(
    card(page).getByRole('radio', { name: 'Receive messages via WhatsApp' }),
  ).toBeChecked();
  await expect(update).toHaveCount(0);
  await web.click();
  const failing = [
    [
      () =>
        stub.respond('putPlatform', {
          success: false,
          message: 'Not today.',
        }),
      'Update failed',
      'Not today.',
    ],
    [() => stub.disconnect('putPlatform'), 'Error', 'Failed to update platform preference'],
  ] as const;
  const moreFailing = [
    [
      () => stub.respond('putPlatform', { success: false }),
      'Update failed',
      'Failed to update platform preference',
    ],
    [() => stub.respond('putPlatform', { message: 'Not now.' }, 409), 'Update failed', 'Not now.'],
  ] as const;
  for (const [arrange, title, text] of isFull ? [...failing, ...moreFailing] : failing) {
    arrange();
    await update.click();
    await takeToasts(page, [title, text]);
  }
  await expect(
    card(page).getByRole('radio', { name: 'Chat through the web interface' }),
  ).toBeChecked();
  const chat = card(page).getByRole('link', { name: 'Open the chat' });
  await expect(chat).toHaveCount(0);
  stub.respond('putPlatform', { success: true, platform: 'web' });
  await update.click();
  await takeToasts(page, ['Platform updated', 'You will now receive messages via Web']);
  expect(stub.calls('putPlatform').at(-1)).toMatchObject({
    body: { platform: 'web' },
    token: 'Bearer e2e-token',
  });
  await expect(update).toHaveCount(0);
  await expect(
    card(page).getByRole('radio', { name: 'Chat through the web interface' }),
  ).toBeFocused();
  await expect(chat).toHaveAttribute('href', '/chat');

  // A choice that is undone leaves nothing to update.
  await whatsapp.click();
  await expect(update).toBeVisible();
  await expect(chat).toHaveCount(0);
  await web.click();
  await expect(update).toHaveCount(0);
});

test(
  'the keyboard shows which platform it is at, a press does not',
  { tag: '@full' },
  async ({ page, stub }) => {
    stub.respond('getPlatform', {
      success: true,
      platform: 'whatsapp',
      message: 'Read.',
    });
    await openAccount(page, stub);
    const whatsapp = card(page).locator('label', { hasText: 'WhatsApp' });
    const web = card(page).locator('label', { hasText: 'web interface' });
    await web.click();
    await expect(web).toHaveCSS('outline-style', 'none');
    await page.keyboard.press('ArrowUp');
    await expect(whatsapp).toHaveCSS('outline-style', 'solid');
    await expect(web).toHaveCSS('outline-style', 'none');
  },
);

test('there is no card without a known preference, and a failed read is shown once', async ({
  page,
  stub,
}) => {
  const release = stub.hold('getPlatform');
  await openAccount(page, stub);
  await expect(card(page)).toHaveAttribute('aria-busy', 'true');
  stub.respond('getPlatform', {}, 503);
  release();
  await expectToasts(page, ['Server error. Please try again later.']);
  await expect(card(page)).toHaveCount(0);
  stub.respond('getPlatform', { success: false });
  await page.reload();
  await expect(page.getByRole('region', { name: 'Account Management' })).toBeVisible();
  await expect(card(page)).toHaveCount(0);
});
