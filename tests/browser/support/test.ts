import { expect, test as base, type Page } from 'playwright/test';
import { Phone } from './phone.ts';

type Fixtures = {
  phone: Phone;
  /** Console errors that this test brings about on purpose. */
  expectedErrors: RegExp[];
};

/** Every test has a phone of its own and an address of its own; an error on the console fails it. */
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

/** Signs in the way a person does. */
export async function signIn(page: Page, phone: Phone): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('Phone number').fill(phone.number);
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  await page.getByLabel('Verification code').fill(await phone.code());
  await page.getByRole('button', { name: 'Verify Code' }).click();
  await page.waitForURL('**/account');
}

/** Comes in by a token of the external issuer, which is quicker than a code, and has written once. */
export async function signInByExternalToken(page: Page, phone: Phone): Promise<void> {
  await phone.write('Hi');
  const { token } = await phone.externalToken();
  await page.goto(`/login#external_token=${token}`);
  await page.waitForURL('**/account');
}
