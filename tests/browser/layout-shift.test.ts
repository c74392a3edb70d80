import { layoutShift } from './support/first-paint.ts';
import { expect, signInByExternalToken, test } from './support/test.ts';

for (const viewport of [
  { width: 412, height: 915 },
  { width: 1280, height: 900 },
]) {
  test.describe(`${viewport.width} pixels wide`, () => {
    test.use({ viewport });

    for (const path of ['/', '/plans', '/terms']) {
      test(`${path} does not move when a session is restored`, async ({ page, phone }) => {
        await signInByExternalToken(page, phone);
        let respond = () => {};
        const response = new Promise<void>((resolve) => (respond = resolve));
        await page.route('**/api/user/me', async (route) => response.then(() => route.fallback()));
        await page.goto(path);
        const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link').last();
        await expect(link).toHaveText(/My Account$/);
        await expect(page.getByRole('link', { name: 'Login', exact: true })).toBeHidden();
        await expect(page.getByText('Loading application...')).toBeVisible();
        respond();
        await expect(link).toHaveAttribute('href', '/account');
        await expect(page.getByText('Loading application...')).toBeHidden();
        expect(await layoutShift(page)).toBe(0);
      });
    }
  });
}

for (const width of [360, 412, 768, 1280]) {
  test(`the account and the chat do not move while they load, ${width} pixels wide`, async ({ page, phone }) => {
    await page.setViewportSize({ width, height: 900 });
    await signInByExternalToken(page, phone);
    await page.goto('/account');
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await expect(page.getByRole('radio').first()).toBeAttached();
    expect(await layoutShift(page)).toBe(0);
    await page.goto('/chat');
    await expect(page.getByRole('checkbox').first()).toBeVisible();
    expect(await layoutShift(page)).toBe(0);
  });
}
