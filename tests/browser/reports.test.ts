import { chat, messageOf, openConversation, send } from './support/chat.ts';
import { spoil } from './support/contexts.ts';
import { open, setVisible, settle } from './support/page.ts';
import { expect, stubbed as test } from './support/test.ts';

/** Public reports of other products, each of which would hurt here: the project and the number of its report. */

const hello = [messageOf(1, 'Hello')];

test('signalapp/Signal-Android 14516, mattermost-mobile 5154: a double tap on Send sends once, and is no mistake', async ({
  page,
  stub,
}) => {
  await openConversation(page, stub, hello);
  stub.respond('sendMessage', {
    success: true,
    message: messageOf(2, 'Once'),
  });
  const release = stub.hold('sendMessage');
  await chat.field(page).fill('Once');
  await page
    .getByRole('button', {
      name: 'Send',
      exact: true,
    })
    .dblclick();
  release();
  await settle(page);
  expect(stub.calls('sendMessage')).toHaveLength(1);
  await expect(page.getByRole('alert')).toHaveCount(0);
  // Whoever presses it on a field that they have emptied is told.
  await chat.field(page).fill('x');
  await chat.field(page).fill('');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByRole('alert')).toHaveText('Please write a message.');
});

test(
  'signalapp/Signal-Android 9228: a message that comes in leaves the draft alone',
  { tag: '@full' },
  async ({ page, stub }) => {
    const push = stub.openStream('chatStream');
    await openConversation(page, stub, hello);
    await chat.field(page).fill('Half a sen');
    push({
      type: 'message',
      message: messageOf(2, 'A reply', { author: 'solace' }),
    });
    await expect(chat.message(page, 'A reply')).toBeVisible();
    await expect(chat.field(page)).toHaveValue('Half a sen');
  },
);

test(
  'nesquena/hermes-webui 630, elizaOS/eliza 18233: no field is so small that a phone zooms into it',
  { tag: '@full' },
  async ({ page, stub }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    const sizes = () =>
      page
        .locator('input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select')
        .evaluateAll((fields) =>
          fields.map((one) => Number.parseFloat(getComputedStyle(one).fontSize)),
        );
    for (const path of ['/login', '/contact', '/help-now', '/withdraw']) {
      await open(page, path);
      for (const size of await sizes()) expect(size, path).toBeGreaterThanOrEqual(16);
    }
    await openConversation(page, stub, hello);
    for (const size of await sizes()) expect(size, '/chat').toBeGreaterThanOrEqual(16);
  },
);

test(
  'code-farmz/ng-otp-input 27, opengovsg/FormSG 9471: a code is one field, and takes what a phone pastes',
  { tag: '@full' },
  async ({ page }) => {
    await open(page, '/login');
    await page.getByLabel('Phone number').fill('+15551234567');
    await page.getByRole('button', { name: 'Send Verification Code' }).click();
    const code = page.getByLabel('Verification code');
    await expect(code).toHaveAttribute('autocomplete', 'one-time-code');
    await expect(code).toHaveAttribute('inputmode', 'numeric');
    for (const pasted of ['123 456', '123-456', 'ABC-123456', '\u200e123456', '１２３４５６']) {
      await code.fill(pasted);
      await expect(code, pasted).toHaveValue('123456');
    }
  },
);

test(
  'ahoek/katsu 67, Expensify/App 92407: a page whose files stay away is loaded again, and not for ever',
  { tag: '@full' },
  async ({ page, stub, expectedErrors }) => {
    expectedErrors.push(
      /status of 404/,
      /A part of this page|dynamically imported|could not be loaded/,
    );
    spoil(page);
    await openConversation(page, stub, hello);
    let loads = 0;
    page.on('request', (request) => {
      if (request.isNavigationRequest()) loads += 1;
    });
    await page.route(/\/assets\/.*\/(account|platform)[^/]*\.js$/, (route) =>
      route.fulfill({ status: 404 }),
    );
    await page.route('**/assets/**', (route) =>
      route.request().method() === 'HEAD' ? route.fulfill({ status: 404 }) : route.fallback(),
    );
    await page.getByRole('link', { name: 'My Account' }).click();
    await expect(page.getByRole('button', { name: 'Refresh Page' })).toBeVisible();
    // Once by the app, once by a shell that has no app.
    expect(loads).toBeLessThanOrEqual(2);
  },
);

test(
  'Comfy-Org/ComfyUI_frontend 17345: the plan is read again on the return from the tab where it was changed',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stub.signedIn({ tier: 'basic' });
    await open(page, '/cancel');
    await expect.poll(() => stub.calls('getMe').length).toBeGreaterThan(0);
    await settle(page);
    const before = stub.calls('getMe').length;
    await setVisible(page, false);
    await setVisible(page, true);
    await expect.poll(() => stub.calls('getMe').length).toBeGreaterThan(before);
  },
);

test(
  'tailscale/golink 148, alphagov/publishing-api 166, ubuntu.com 4448: an address with a capital, or the end of its sentence, leads to its page',
  { tag: '@full' },
  async ({ page, expectedErrors }) => {
    expectedErrors.push(/status of 404/);
    const written = [
      '/help-now.',
      '/Help-Now',
      '/help-now)',
      '/help-now%E2%80%9D',
      '/HELP-NOW,?a=B',
    ];
    for (const address of written) {
      await page.goto(address);
      await expect(page.getByRole('heading', { level: 1 }), address).toHaveText('Get help now');
    }
    expect(page.url()).toMatch(/\/help-now\?a=B$/);
    await page.goto('/es/plans!');
    await page.waitForURL('**/es/plans');
    await page.goto('/Nowhere.');
    await page.waitForURL('**/nowhere');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Page Not Found');
  },
);

test(
  'kubetail 1029, microsoft/vscode 107854: a theme that is chosen in one tab holds in the others',
  { tag: '@full' },
  async ({ page }) => {
    await page.emulateMedia({ colorScheme: 'light' });
    await open(page, '/');
    const other = await page.context().newPage();
    await other.emulateMedia({ colorScheme: 'light' });
    await open(other, '/plans');
    await page.getByRole('button', { name: 'Switch to dark colours' }).click();
    await expect(other.locator('html')).toHaveAttribute('data-theme', 'dark');
    await other.getByRole('button', { name: 'Switch to light colours' }).click();
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
  },
);

test(
  'a name for a message is not cut inside a character',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openConversation(page, stub, hello);
    stub.respond('sendMessage', {}, 500);
    await send(page, `${'a'.repeat(59)}😀 and more`);
    const again = page.getByRole('button', { name: /^Send again/ });
    await expect(again).toHaveAccessibleName(`Send again: ${'a'.repeat(59)}😀`);
  },
);
