import type { Page } from 'playwright/test';
import { open } from './stubbed.ts';

/** The parts of the login screen. */
export const login = {
  phone: (page: Page) => page.getByLabel('Phone number'),
  send: (page: Page) => page.getByRole('button', { name: /^(Send|Resend) Verification Code$/ }),
  code: (page: Page) => page.getByLabel('Verification code'),
  verify: (page: Page) => page.getByRole('button', { name: 'Verify Code', exact: true }),
  wait: (page: Page, seconds: number) => page.getByRole('button', { name: `Wait ${seconds}s to try again` }),
  alert: (page: Page) => page.getByRole('main').getByRole('alert'),
};

/** Requests a code, which opens the code step. */
export async function askForCode(page: Page, path = '/login'): Promise<void> {
  await open(page, path);
  await login.phone(page).fill('+15551234567');
  await login.send(page).click();
  await login.code(page).waitFor();
}

export async function enterCode(page: Page, code = '123456'): Promise<void> {
  await login.code(page).fill(code);
  await login.verify(page).click();
}
