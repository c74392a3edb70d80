import type { Page } from 'playwright/test';
import type { Person } from './support/person.ts';
import { returnToTab, expect, open, test } from './support/stubbed.ts';

const card = (page: Page) => page.getByRole('region', { name: 'Usage', exact: true });
const bar = (page: Page) => card(page).getByRole('progressbar', { name: 'Messages used this week:' });

/** Serves the site with other allowances than the catalogue's. */
async function withAllowance(page: Page, allowance: number, instead: string): Promise<void> {
  await page.route('**/assets/*.js', async (route) => {
    const response = await route.fetch();
    const code = await response.text();
    await route.fulfill({ response, body: code.replace(`messageLimit:${allowance}`, `messageLimit:${instead}`) });
  });
}

const rows: [Person, string, number][] = [
  [{ tier: 'free', used: 0 }, '0 / 5', 0],
  [{ tier: 'free', used: 2 }, '2 / 5', 40],
  [{ tier: 'inactive', used: 5 }, '5 / 5', 100],
  [{ tier: 'basic', used: 10 }, '10 / 30', 33],
  [{ tier: 'premium', used: 69 }, '69 / 70', 99],
  [{ tier: 'platinum', used: 160 }, '160 / 160', 100],
  [{ tier: 'basic', used: 44 }, '44 / 30', 100],
];

test('the card shows how much of the week is used, at most a full bar', async ({ page, stub }) => {
  await stub.signedIn();
  await open(page, '/account');
  await expect(card(page).getByText('Messages used this week:')).toBeVisible();
  for (const [person, value, percent] of rows) {
    stub.person(person);
    await returnToTab(page);
    await expect(card(page).getByText(value, { exact: true })).toBeVisible();
    await expect(bar(page)).toHaveAttribute('aria-valuenow', String(percent));
    await expect(bar(page)).toHaveAttribute('aria-valuetext', `${value.replace(' / ', ' of ')} messages used`);
    const isFree = person.tier === 'free' || person.tier === 'inactive';
    await expect(card(page).getByText('Upgrade for more messages.')).toHaveCount(isFree ? 1 : 0);
  }
});

test('platinum without a limit in the catalogue shows the one that it has', async ({ page, stub }) => {
  await withAllowance(page, 160, 'null');
  await stub.signedIn({ tier: 'platinum', used: 40 });
  await open(page, '/account');
  await expect(card(page).getByText('40 / 160', { exact: true })).toBeVisible();
  await expect(bar(page)).toHaveAttribute('aria-valuenow', '25');
  await expect(card(page).getByText('160 messages per week on this plan.')).toBeVisible();
});

test('another plan without a limit tracks nothing', async ({ page, stub }) => {
  await withAllowance(page, 70, 'null');
  await stub.signedIn({ tier: 'premium', used: 7 });
  await open(page, '/account');
  await expect(card(page).getByText('Usage tracking not applicable for this plan.')).toBeVisible();
  await expect(card(page).getByRole('progressbar')).toHaveCount(0);
});

test('an allowance without end compares as Unlimited', async ({ page, stub }) => {
  await withAllowance(page, 160, '-1');
  await stub.signedIn();
  await open(page, '/account');
  const row = page.getByRole('row', { name: /^Messages per week/ });
  await expect(row.getByRole('cell')).toHaveText(['5', '30', '70', 'Unlimited']);
});

test('a skeleton stands in while the usage is fetched', async ({ page, stub }) => {
  await stub.signedIn({ used: 1 });
  await open(page, '/account');
  await expect(card(page).getByText('1 / 5')).toBeVisible();
  const before = await card(page).boundingBox();
  const release = stub.hold('getMe');
  await card(page).getByRole('button', { name: 'Refresh usage' }).click();
  await expect(card(page).locator('[aria-busy=true] [data-loading=true]')).toBeVisible();
  expect(await card(page).boundingBox()).toEqual(before);
  release();
  await expect(card(page).locator('[data-loading=true]')).toHaveCount(0);
});

test('a profile may leave out what it has nothing to say about', async ({ page, stub }) => {
  await stub.signedIn();
  await open(page, '/account');
  for (const [profile, value] of [
    [{ metadata: { messagesUsedThisPeriod: 3 } }, '3 / 5'],
    [{ messagesUsedThisPeriod: 4 }, '4 / 5'],
    [{}, '0 / 5'],
  ] as const) {
    stub.respond('getMe', { success: true, profile });
    await returnToTab(page);
    await expect(card(page).getByText(value, { exact: true })).toBeVisible();
  }
});
