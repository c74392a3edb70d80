import { dismissNotices, expectNotices, open, openAccount, shownNotices } from './support/page.ts';
import type { Stub } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';

const server = 'Server error. Please try again later.';
const rows: [arrange: (stub: Stub) => void, told: string][] = [
  [(stub) => fail(stub, 403, 'Not yours.'), 'Not yours.'],
  [(stub) => fail(stub, 403), 'You do not have permission to perform this action'],
  [(stub) => fail(stub, 404, 'No such thing.'), 'Failed to open billing management'],
  [(stub) => fail(stub, 429, 'Slowly.'), 'Too many requests. Please try again later.'],
  [(stub) => fail(stub, 500, 'A stack.'), server],
  [(stub) => fail(stub, 502), server],
  [(stub) => fail(stub, 503), server],
  [(stub) => fail(stub, 409, 'Something is in the way.'), 'Something is in the way.'],
  [(stub) => fail(stub, 418), 'Request failed with status 418'],
  [(stub) => fail(stub, 504), 'Request failed with status 504'],
  [
    (stub) => stub.disconnect('createPortalSession'),
    'Unable to connect to server. Please check your internet connection.',
  ],
];

const fail = (stub: Stub, status: number, message?: string) =>
  stub.respond('createPortalSession', message ? { message } : {}, status);

test('each failure of a call is shown once', async ({ page, stub }) => {
  await openAccount(page, stub);
  for (const [arrange, told] of rows) {
    arrange(stub);
    await page.getByRole('button', { name: 'Billing Management' }).click();
    await expectNotices(page, ['Error', told]);
    await dismissNotices(page);
  }
});

const bare: [status: number, ...told: string[]][] = [[404], [429, 'Too many requests. Please try again later.']];

for (const [status, ...told] of bare) {
  test(`${status} by itself shows ${told[0] ?? 'nothing'}`, async ({ page, stub }) => {
    await stub.signedIn();
    stub.respond('verifyCheckoutSession', { message: 'From the server.' }, status);
    await open(page, '/account?session_id=cs_1');
    await expect.poll(() => new URL(page.url()).search).toBe('');
    await expectNotices(page, ...told.map((text) => [text] as const));
  });
}

for (const [message, told] of [
  ['A strange thing.', 'A strange thing.'],
  ['', 'An unexpected error occurred'],
] as const) {
  test(`an error of another kind is shown as ${told}`, async ({ page, stub }) => {
    await page.addInitScript((text) => {
      const real = window.fetch;
      window.fetch = (input, init) => {
        if (typeof input === 'string' && input.includes('verify-and-update')) throw new Error(text);
        return real(input, init);
      };
    }, message);
    await stub.signedIn();
    await open(page, '/account?session_id=cs_1');
    await expect.poll(() => new URL(page.url()).search).toBe('');
    await expectNotices(page, [told]);
  });
}

test('a success that brings a message shows it, a read does not', async ({ page, stub }) => {
  stub.respond('getPlatform', { success: true, platform: 'whatsapp', message: 'Read.' });
  stub.respond('verifyCheckoutSession', {
    success: true,
    tierUpdated: false,
    newTier: 'free',
    message: 'All is well.',
  });
  await stub.signedIn();
  await open(page, '/account?session_id=cs_1');
  await expect(page.getByRole('region', { name: 'Messaging Platform' }).getByRole('radio').first()).toBeVisible();
  await expectNotices(page, ['All is well.']);
  expect((await shownNotices(page)).map(({ type }) => type)).toEqual(['success']);
});

const crashes = [
  ['an error', () => reportError(new Error('The sky fell.')), 'The sky fell.'],
  ['a thrown text', () => reportError('Only words.'), /Only words\./],
] as const;

for (const [what, crash, told] of crashes) {
  test(`${what} that is not caught shows the crash screen until the page is reloaded`, async ({
    page,
    stub,
    expectedErrors,
  }) => {
    expectedErrors.push(/The sky fell|Only words/);
    await stub.signedIn();
    await open(page, '/plans');
    await page.evaluate(crash);
    await expect(page.getByRole('heading', { name: 'Something went wrong' })).toBeVisible();
    await expect(page.getByRole('alert').getByText(told)).toBeVisible();
    await expect(page.getByRole('banner')).toHaveCount(0);
    await page.getByRole('button', { name: 'Refresh Page' }).click();
    await expect(page.getByRole('heading', { name: 'Choose Your Plan' })).toBeVisible();
  });
}

test('a layout that needed two rounds is no error', async ({ page }) => {
  await open(page, '/plans');
  await page.evaluate(() =>
    window.dispatchEvent(
      new ErrorEvent('error', { message: 'ResizeObserver loop completed with undelivered notifications.' }),
    ),
  );
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Why Solace?' })).toBeVisible();
});
