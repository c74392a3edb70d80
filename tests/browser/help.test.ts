import type { Page } from 'playwright/test';
import { holdAssets, openServedFirst } from './support/first-paint.ts';
import { hydrated, open, settle, stopTime, expectToasts, follow } from './support/page.ts';
import { referralsOf } from './support/stub.ts';
import { expect, fullUnless, stubbed as test } from './support/test.ts';

const helpLink = (page: Page) => page.getByRole('link', { name: 'Get help now' });
const country = (page: Page) => page.getByRole('combobox', { name: 'Country' });
const call = (page: Page, name: string) => page.getByRole('link', { name }).locator('visible=true');

// tests/build finds the link on every page.
test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a number is three taps from any page, and the counts of referrals are open data', async ({
    page,
  }) => {
    for (const path of ['/', '/account']) {
      await page.goto(path);
      await helpLink(page).last().click();
      await expect(page).toHaveURL(/\/help-now$/);
      await expect(country(page)).toBeHidden();
      await page.locator('summary', { hasText: 'Germany' }).click();
      await expect(call(page, 'Call 0800 1110111')).toHaveAttribute('href', 'tel:08001110111');
    }
    await page.goto('/safety');
    await expect(referrals(page)).toContainText('We have counted since November 23, 2026.');
    await page.getByRole('link', { name: 'The numbers as data' }).click();
    await expect(page.locator('body')).toContainText('"lastYear"');
  });
});

test('a country that was opened early stays open where a translator makes React render the page anew', async ({
  page,
  expectedErrors,
}) => {
  expectedErrors.push(/React error #418/);
  const load = await holdAssets(page);
  // The page has loaded only with its scripts.
  await page.goto('/help-now', { waitUntil: 'domcontentloaded' });
  await page.getByText('Argentina').last().click();
  const title = page.locator('main h1');
  await title.evaluate((element) => (element.innerHTML = '<font>Consigue ayuda</font>'));
  load();
  await expect(title).toHaveText('Get help now');
  await expect(page.getByText('Centro de Asistencia al Suicida').first()).toBeVisible();
});

/** Where the connection and the number are from, the country that is chosen then, and those whose lines are shown. */
const visits: [connection: string, phoneNumber: string | null, chosen: string, shown: string[]][] =
  [
    ['NZ', null, 'NZ', ['New Zealand']],
    ['JP', '+61412345678', 'JP', ['Japan', 'Australia']],
    ['DK', '+61412345678', '', ['Denmark', 'Australia']],
  ];

test('a visitor gets the lines of the country of the connection, then those of the number', async ({
  page,
  stub,
}) => {
  await stopTime(page);
  const headings = page.getByRole('main').locator('h2[id^="help-"]');
  for (const [connection, phoneNumber, chosen, shown] of visits) {
    if (phoneNumber) await stub.signedIn({ phoneNumber });
    stub.respond('getCountry', { success: true, country: connection });
    await open(page, '/help-now');
    await expect(country(page), connection).toHaveValue(chosen);
    await expect(headings, connection).toHaveText(shown);
  }
  await expect(page.getByRole('region', { name: 'Denmark' })).toContainText('no confirmed number');
  await country(page).selectOption('Brazil');
  await expect(headings).toHaveText(['Brazil']);
});

test('without the API the number’s country is shown, and a late response moves nothing', async ({
  page,
  stub,
}) => {
  await stopTime(page);
  await stub.signedIn({ phoneNumber: '+61412345678' });
  const respond = stub.hold('getCountry');
  await open(page, '/help-now');
  await settle(page);
  await page.clock.runFor(999);
  await settle(page);
  await expect(page.getByRole('heading', { name: 'Australia' })).toHaveCount(0);
  await page.clock.runFor(1);
  await expect(page.getByRole('heading', { name: 'Australia' })).toBeVisible();
  stub.respond('getCountry', { success: true, country: 'JP' });
  respond();
  await settle(page);
  await expect(country(page)).toHaveValue('AU');
  await expect(page.getByRole('heading', { name: 'Japan' })).toHaveCount(0);
});

test('a country without a line gets no number, but the way to others', async ({ page, stub }) => {
  await stopTime(page);
  await stub.signedIn({ phoneNumber: '+4520123456' });
  await open(page, '/help-now');
  await expect(country(page)).toHaveValue('');
  const main = page.getByRole('main');
  await expect(main.getByText(/call your local emergency number now/)).toBeVisible();
  await expect(main.locator('a[href="https://findahelpline.com/"]')).toHaveAccessibleName(
    /findahelpline\.com/,
  );
  await expect(main.locator('a[href^="tel:"]:visible')).toHaveCount(0);
});

test('a country chosen before the scripts is kept; then the page needs no network', async ({
  page,
}) => {
  const release = await holdAssets(page);
  await page.goto('/help-now', { waitUntil: 'commit' });
  await country(page).selectOption('Germany');
  release();
  await expect(page.getByRole('heading', { name: 'Germany' })).toBeVisible();
  await expect(country(page)).toHaveValue('DE');
  await hydrated(page);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.context().setOffline(true);
  await country(page).selectOption('Brazil');
  await expect(call(page, 'Call 188')).toBeVisible();
  // The page asks once for the connection's country, and needs no response.
  expect(asked.filter((url) => !url.endsWith('/api/country'))).toEqual([]);
});

const failures: Record<string, (page: Page) => Promise<unknown>> = {
  'whose files do not load': (page) =>
    page.route('**/assets/*/help-now.js', (route) => route.abort()),
  'whose main script does not load': (page) => page.route('**/assets/**', (route) => route.abort()),
  'whose files belong to an earlier deployment': (page) =>
    page.route('**/assets/*/help-now.js', (route) => route.fulfill({ status: 404 })),
  'whose script crashes': (page) =>
    page.addInitScript(() => Reflect.deleteProperty(Array.prototype, 'toSorted')),
};
for (const [kind, fail] of Object.entries(failures)) {
  const isChosen = kind === 'whose files do not load';
  test(
    `a page ${kind} keeps its crisis lines`,
    fullUnless(isChosen),
    async ({ page, expectedErrors }) => {
      expectedErrors.push(/./);
      await fail(page);
      await page.goto('/help-now');
      await settle(page);
      await page.reload();
      await settle(page);
      await page.getByText('United States', { exact: true }).last().click();
      await expect(page.locator('a[href="tel:988"]:visible').first()).toBeVisible();
      await expect(page.getByText('Something went wrong')).toHaveCount(0);
      // What cannot work is not offered.
      await expect(country(page)).toBeHidden();
    },
  );
}

test('the account, the contact page, the terms and the page on safety lead there', async ({
  page,
  stub,
}) => {
  await stub.signedIn();
  for (const path of ['/account', '/contact', '/terms', '/safety']) {
    await page.goto(path);
    const main = page.getByRole('main');
    await expect(main.getByRole('link', { name: 'Get help now' })).toHaveAttribute(
      'href',
      '/help-now',
    );
    await expect(main).not.toContainText('988');
  }
});

const referrals = (page: Page) =>
  page.getByRole('region', { name: 'How often we have referred people' });

test(
  'the page on safety says what Solace does and how often it referred; nothing moves',
  { tag: '@full' },
  async ({ page, stub }) => {
    stub.respond('getSafety', referralsOf(2028, 1204, 1));
    const release = stub.hold('getSafety');
    const moves = await openServedFirst(page, '/safety');
    for (const statement of [
      /marks its reply as a crisis reply/,
      /can miss what you mean/,
      /Protocol version 2, November 23, 2026/,
      /we count a crisis reply when it is first shown to the person, and never twice/,
    ])
      await expect(page.getByRole('main')).toContainText(statement);
    release();
    await expect(referrals(page)).toContainText('2027: 1204 referrals');
    await expect(referrals(page)).toContainText('2028, until today: 1 referral');
    expect(await moves()).toEqual([]);

    stub.respond('getSafety', referralsOf(2026, 0, 0));
    await page.reload();
    await expect(referrals(page)).toContainText('2025: not counted yet');
    await expect(referrals(page)).toContainText('2026, until today: no referral');
    stub.respond('getSafety', { success: false, code: 'unavailable' }, 503);
    await page.reload();
    await expect(referrals(page)).toContainText('The numbers cannot be shown right now.');
  },
);

/** Texts that break a rule, and one that keeps it. */
const fields = [
  ['Name', ['', 'A'], 'Al', 'Name must be at least 2 characters.'],
  ['Email', ['', 'ada', 'ada@example'], "o'ada@example.ie", 'Please enter a valid email address.'],
  ['Message', ['', 'Too short'], '0123456789', 'Message must be at least 10 characters.'],
] as const;

test('a message that breaks no rule is said to be sent after 1.5 s, without any call', async ({
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
  await expect(main.getByRole('link', { name: /^\+1 \(555\)/ })).toHaveAttribute(
    'href',
    /^tel:\+1555/,
  );
  await expect(main.getByText(/not a crisis service/)).toBeVisible();

  const button = page.getByRole('button', { name: 'Send Message' });
  await button.click();
  for (const [, , , rule] of fields)
    await expect(page.getByText(rule, { exact: true })).toBeVisible();
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
  await expectToasts(page, [
    'Message Sent',
    "We've received your message and will get back to you soon.",
  ]);
  expect(called).toEqual([]);
});

test(
  'what is written outlasts a change of the language and a reload, and shows in no other tab',
  { tag: '@full' },
  async ({ page, context }) => {
    const typed = Object.entries({
      name: 'Ada',
      email: 'ada@example.com',
      message: 'Two lines,\nof which one is short',
    });
    const field = (key: string) => page.locator(`[name=${key}]`);
    await open(page, '/contact');
    for (const [key, text] of typed) await field(key).fill(text);
    await follow(
      page.getByRole('contentinfo').getByRole('link', {
        name: 'Español',
        exact: true,
      }),
      '/es/contact',
    );
    await hydrated(page);
    for (const [key, text] of typed) await expect(field(key), key).toHaveValue(text);
    await page.reload();
    await hydrated(page);
    for (const [key, text] of typed) await expect(field(key), key).toHaveValue(text);

    const other = await context.newPage();
    await open(other, '/contact');
    for (const [key] of typed) await expect(other.locator(`[name=${key}]`), key).toHaveValue('');
  },
);
