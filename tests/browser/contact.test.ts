import { expectToasts, hydrated, open, settle, stopTime } from './support/page.ts';
import { expect, test } from './support/stubbed.ts';

const name = 'Name must be at least 2 characters.';
const email = 'Please enter a valid email address.';
const message = 'Message must be at least 10 characters.';
const rows = [
  { typed: ['', '', ''], told: [name, email, message] },
  { typed: ['A', 'ada@example.com', 'Ten letters'], told: [name] },
  { typed: ['Ada', 'ada@example', 'Ten letters'], told: [email] },
  { typed: ['Ada', 'ada@example.com', 'Too short'], told: [message] },
  { typed: ['Ada', 'ada', 'Ten letters'], told: [email] },
] as const;
const corrections = [
  ['A', 'Al', name],
  ['al@example', 'al@example.com', email],
  ['Too short', '0123456789', message],
] as const;

test('a message that breaks a rule is not sent; another is said to be sent after 1.5 s, without any call', async ({
  page,
}) => {
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

  const fields = ['Name', 'Email', 'Message'].map((label) => page.getByLabel(label));
  const button = page.getByRole('button', { name: 'Send Message' });
  for (const { typed, told } of rows) {
    for (const [index, text] of typed.entries()) await fields[index]!.fill(text);
    await button.click();
    for (const rule of [name, email, message])
      await expect(page.getByText(rule, { exact: true })).toHaveCount(told.some((each) => each === rule) ? 1 : 0);
    await expect(page.getByRole('button', { name: 'Sending...' })).toHaveCount(0);
  }

  // The sentence of a field goes once the field is right, and not before.
  for (const [index, [wrong, right, rule]] of corrections.entries()) {
    await fields[index]!.fill('');
    await button.click();
    await expect(page.getByText(rule, { exact: true })).toBeVisible();
    await fields[index]!.fill(wrong);
    await expect(page.getByText(rule, { exact: true })).toBeVisible();
    await fields[index]!.fill(right);
    await expect(page.getByText(rule, { exact: true })).toHaveCount(0);
  }

  await button.click();
  await expect(page.getByRole('button', { name: 'Sending...' })).toBeDisabled();
  await page.clock.runFor(1499);
  await settle(page);
  await expect(page.getByLabel('Message')).toHaveValue('0123456789');
  await page.clock.runFor(1);
  for (const field of fields) await expect(field).toHaveValue('');
  await page.clock.resume();
  await expectToasts(page, ['Message Sent', "We've received your message and will get back to you soon."]);
  expect(called).toEqual([]);
});

test('what is written outlasts a change of the language, and no other visit', async ({ page }) => {
  const typed = { name: 'Ada', email: 'ada@example.com', message: 'Two lines,\nof which one is short' };
  const field = (key: string) => page.locator(`[name=${key}]`);
  const expectFields = async (values: Record<string, string>) => {
    for (const [key, value] of Object.entries(values)) await expect(field(key), key).toHaveValue(value);
  };
  const stored = () => page.evaluate(() => JSON.stringify(sessionStorage));
  await open(page, '/contact');
  for (const [key, value] of Object.entries(typed)) await field(key).fill(value);
  expect(await stored()).not.toContain('Ada');
  for (const [name, path] of [
    ['Español', '/es/contact'],
    ['Português', '/pt-br/contact'],
  ] as const) {
    await page.getByRole('contentinfo').getByRole('link', { name, exact: true }).click();
    await page.waitForURL(path);
    await hydrated(page);
    await expectFields(typed);
    expect(await stored()).not.toContain('Ada');
  }
  await open(page, '/contact');
  await expectFields({ name: '', email: '', message: '' });
});
