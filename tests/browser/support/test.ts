import { expect, test as base, type Page } from 'playwright/test';
import { Phone } from './phone.ts';

type Fixtures = {
  phone: Phone;
  /** Console errors that the test expects. */
  expectedErrors: RegExp[];
};

/** Every test has its own phone and address; a console error fails it. */
export const test = base.extend<Fixtures>({
  baseURL: async ({}, use) => use(process.env.SITE_URL),
  phone: async ({}, use) => use(new Phone()),
  expectedErrors: async ({}, use) => use([]),
  context: async ({ context, expectedErrors }, use) => {
    const site = process.env.SITE_URL!;
    const bytes = crypto.getRandomValues(new Uint8Array(3));
    await context.route(
      (url) => url.origin === site,
      (route) =>
        route.continue({ headers: { ...route.request().headers(), 'cf-connecting-ip': `10.${bytes.join('.')}` } }),
    );
    const errors: string[] = [];
    context.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    context.on('response', (response) => {
      if (response.status() >= 500) errors.push(`${response.status()} ${response.url()}`);
    });
    context.on('weberror', (error) => errors.push(String(error.error())));
    await use(context);
    expect(errors.filter((error) => !expectedErrors.some((expected) => expected.test(error)))).toEqual([]);
  },
});

export { expect };

/** Signs in with a code. */
export async function signIn(page: Page, phone: Phone): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('Phone number').fill(phone.number);
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  await page.getByLabel('Verification code').fill(await phone.code());
  await page.getByRole('button', { name: 'Verify Code' }).click();
  await page.waitForURL('**/account');
}

/** Signs in with an external token, which is faster than a code, after one message to the assistant. */
export async function signInByExternalToken(page: Page, phone: Phone): Promise<void> {
  await phone.write('Hi');
  const { token } = await phone.externalToken();
  await page.goto(`/login#external_token=${token}`);
  await page.waitForURL('**/account');
}
