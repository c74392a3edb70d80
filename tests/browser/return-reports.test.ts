import { chat, messageOf, openConversation } from './support/chat.ts';
import { hydrated, open, setVisible, stopTime, storedToken } from './support/page.ts';
import { jwt, over } from './support/stub.ts';
import { buy, expect, signInByExternalToken, stubbed, test, toPayment } from './support/test.ts';

/** Public reports about people who leave and return, each of which would hurt here: the project and its number. */

const hello = [messageOf(1, 'Hello')];

test(
  'mozilla/fxa 13755, gitpod 15246: who has paid in another tab cannot pay for the same again',
  { tag: '@full' },
  async ({ page, phone }) => {
    await signInByExternalToken(page, phone);
    await page.goto('/order?plan=basic');
    await hydrated(page);
    await expect(toPayment(page)).toBeVisible();
    const other = await page.context().newPage();
    await buy(other);
    await page.bringToFront();
    await expect(toPayment(page)).toHaveCount(0);
    expect((await phone.holdings()).subscriptions).toHaveLength(1);
  },
);

stubbed(
  'breatheco-de 2797, angular-login-example 7: a session that has ended takes nobody away from the crisis lines',
  async ({ page, stub, expectedErrors }) => {
    expectedErrors.push(/status of 401/);
    await stub.signedIn({});
    stub.respond('getMe', over, 401);
    await page.goto('/help-now');
    await expect(page.getByRole('banner').getByRole('link', { name: 'Login' })).toBeVisible();
    expect(await storedToken(page)).toBeNull();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Get help now');
    expect(page.url()).toMatch(/\/help-now$/);
  },
);

stubbed(
  'mark-szabo/carwash 51, vfs-tracker 110: a session that expires without a network waits for it, with what was written',
  { tag: '@full' },
  async ({ page, stub, context, expectedErrors }) => {
    expectedErrors.push(/net::ERR|status of 401/);
    const now = Date.parse('2025-01-01T12:00:00Z') / 1000;
    await stopTime(page);
    await stub.signedIn({}, jwt({ exp: now + 600 }));
    await openConversation(page, stub, hello, {});
    await chat.field(page).fill('Half a sentence');
    await context.setOffline(true);
    await page.clock.setSystemTime((now + 700) * 1000);
    await setVisible(page, false);
    await setVisible(page, true);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.clock.resume();
    await expect(chat.message(page, 'Half a sentence').getByText('Not sent')).toBeVisible();
    expect(await storedToken(page)).not.toBeNull();
    expect(page.url()).toContain('/chat');
  },
);

stubbed(
  'pubky-app 2541, flutterflow-issues 2913: who opens a page without the server is still signed in afterwards',
  { tag: '@full' },
  async ({ page, stub, expectedErrors }) => {
    expectedErrors.push(/net::ERR/, /account unreached/);
    await stub.signedIn({});
    await page.route('**/api/**', (route) => route.abort());
    await page.goto('/account');
    await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
    expect(await storedToken(page)).not.toBeNull();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await open(page, '/account');
    await expect(page.getByRole('button', { name: 'Logout' })).toBeEnabled();
  },
);
