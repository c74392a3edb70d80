import { expectToasts, hydrated, open, settle, stopTime } from './support/page.ts';
import { expect, stubbed as test } from './support/test.ts';

const name = 'Name must be at least 2 characters.';
const email = 'Please enter a valid email address.';
const message = 'Message must be at least 10 characters.';
/** Texts that break a rule, and one that keeps it. */
const fields = [
  ['Name', ['', 'A'], 'Al', name],
  ['Email', ['', 'ada', 'ada@example'], 'ada@example.com', email],
  ['Message', ['', 'Too short'], '0123456789', message],
] as const;

test('a message that breaks no rule is said to be sent after 1.5 s, without any call', async ({ page }) => {
  await stopTime(page);
  await open(page, '/contact');
  const called: string[] = [];
  page.on('request', (request) => request.method() !== 'GET' && called.push(request.url()));
  const main = page.getByRole('main');
  await expect(main.getByLabel('Phone (optional)')).not.toHaveAttribute('required');
  await expect(main.getByText('Monday-Friday 9:00 AM-6:00 PM EST')).toBeVisible();
  await expect(main.getByRole('link', { name: 'support@solace.example' })).toBeVisible();
  await expect(main.getByRole('link', { name: /^\+1 \(555\)/ })).toHaveAttribute('href', /^tel:\+1555/);
  await expect(main.getByText(/not a crisis service/)).toBeVisible();

  const button = page.getByRole('button', { name: 'Send Message' });
  await button.click();
  for (const rule of [name, email, message]) await expect(page.getByText(rule, { exact: true })).toBeVisible();
  // The sentence of a field goes once the field is right, and not before.
  for (const [label, wrong, right, rule] of fields) {
    for (const text of wrong) {
      await page.getByLabel(label).fill(text);
      await button.click();
      await expect(page.getByText(rule, { exact: true }), text).toBeVisible();
    }
    await page.getByLabel(label).fill(right);
    await expect(page.getByText(rule, { exact: true })).toHaveCount(0);
  }

  await button.click();
  await expect(page.getByRole('button', { name: 'Sending...' })).toBeDisabled();
  await page.clock.runFor(1499);
  await settle(page);
  await expect(page.getByLabel('Message')).toHaveValue('0123456789');
  await page.clock.runFor(1);
  for (const [label] of fields) await expect(page.getByLabel(label)).toHaveValue('');
  await page.clock.resume();
  await expectToasts(page, ['Message Sent', "We've received your message and will get back to you soon."]);
  expect(called).toEqual([]);
});

test('what is written outlasts a change of the language, and no other visit', async ({ page }) => {
  const typed = Object.entries({ name: 'Ada', email: 'ada@example.com', message: 'Two lines,\nof which one is short' });
  const field = (key: string) => page.locator(`[name=${key}]`);
  await open(page, '/contact');
  for (const [key, text] of typed) await field(key).fill(text);
  await page.getByRole('contentinfo').getByRole('link', { name: 'Español', exact: true }).click();
  await page.waitForURL('/es/contact');
  await hydrated(page);
  for (const [key, text] of typed) await expect(field(key), key).toHaveValue(text);
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('Ada');
  await open(page, '/contact');
  for (const [key] of typed) await expect(field(key), key).toHaveValue('');
});
