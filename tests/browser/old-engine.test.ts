import type { Page } from 'playwright/test';
import { everyKind, pageOf } from './support/chat.ts';
import { expect, fullUnless, stubbed as test } from './support/test.ts';

/** As Chrome 109, the last one of Windows 7 and 8, which has no `toSorted`. */
const makeOld = (page: Page) =>
  page.addInitScript(() => {
    Reflect.deleteProperty(Array.prototype, 'toSorted');
  });

const notices = {
  '': [/update your browser/, 'Get help now'],
  '/es': [/actualiza tu navegador/, 'Ayuda inmediata'],
  '/pt-br': [/atualize o navegador/, 'Ajuda imediata'],
} as const;

for (const [folder, [notice, help]] of Object.entries(notices))
  for (const path of ['/login', '/account', '/chat', '/activate-trial'])
    test(
      `${folder}${path} tells an old engine what to do, and where help is`,
      fullUnless(folder === '/es' && path === '/login'),
      async ({ page }) => {
        await makeOld(page);
        await page.goto(folder + path);
        await expect(page.getByText(notice)).toBeVisible();
        const link = page.getByRole('link', { name: help }).first();
        await expect(link).toBeVisible();
        await expect(link).toHaveAttribute('href', `${folder}/help-now`);
      },
    );

for (const path of ['/login', '/account', '/chat'])
  test(
    `${path} tells it somebody who is signed in, and waits for nothing`,
    fullUnless(path === '/chat'),
    async ({ page, stub }) => {
      await makeOld(page);
      await stub.signedIn();
      stub.respond('getChat', pageOf(everyKind));
      await page.goto(path);
      await expect(page.getByText(notices[''][0])).toBeVisible();
      await expect(page.getByRole('link', { name: 'Get help now' }).first()).toBeVisible();
      await expect(page.getByText(/^Loading/).filter({ visible: true })).toHaveCount(0);
    },
  );

test('an old engine shows the crisis lines as they were served', async ({ page }) => {
  await makeOld(page);
  await page.goto('/help-now');
  await page.locator('summary', { hasText: 'United States' }).click();
  await expect(page.getByRole('main').getByText('988 Suicide & Crisis Lifeline')).toBeVisible();
  await expect(page.locator('script[type=module]')).toHaveCount(0);
});

test('an engine of today sees no such notice', async ({ page }) => {
  await page.goto('/login');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.getByText(notices[''][0])).toBeHidden();
});
