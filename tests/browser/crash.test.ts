import { expect, open, test } from './support/stubbed.ts';

const rows = [
  [
    'an error',
    () =>
      void setTimeout(() => {
        throw new Error('The sky fell.');
      }),
    'The sky fell.',
  ],
  [
    'a thrown text',
    () =>
      void setTimeout(() => {
        throw 'Only words.';
      }),
    /Only words\./,
  ],
] as const;

for (const [what, crash, told] of rows) {
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
