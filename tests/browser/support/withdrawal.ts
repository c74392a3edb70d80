import type { Locator, Page } from 'playwright/test';

/** The text beside a name in a list of facts. */
export const factOf = (page: Page, name: string): Locator =>
  page.getByRole('term').getByText(name, { exact: true }).locator('xpath=following-sibling::dd');

/** Until the contract of who is signed in can no longer be withdrawn, by Stripe's clock. */
export async function secondsLeft(page: Page): Promise<number> {
  const token = await page.evaluate(() => localStorage.getItem('authToken'));
  const headers = { authorization: `Bearer ${token}` };
  const response = await page.request.get('/api/billing/withdrawal', { headers });
  const { withdrawableUntil, concludedAt } = (await response.json()).contract;
  return Math.floor((Date.parse(withdrawableUntil) - Date.parse(concludedAt)) / 1000);
}

/** A statement for a number by somebody who is not signed in. */
export const stateFor = (page: Page, contact: string, language = 'en') =>
  page.request.post('/api/withdrawals', {
    data: { name: '<b>Mallory</b>', contact },
    headers: { 'accept-language': language },
  });
