import type { Page } from 'playwright/test';
import { dismissToasts, expectToasts, openAccount, returnToTab, settle, stopTime } from './support/page.ts';
import type { Person } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';

const planCard = (page: Page) => page.getByRole('region', { name: 'Current Plan' });
const usageCard = (page: Page) => page.getByRole('region', { name: 'Usage', exact: true });
const management = (page: Page) => page.getByRole('region', { name: 'Account Management' });
const renewalDate = '2025-01-05T09:00:00.000Z';
const cancelAtDate = '2025-02-28T09:00:00.000Z';
const trial = { tier: 'premium', isTrial: true, subscriptionStatus: 'trialing', renewalDate, scheduled: 'basic' };

type Row = {
  person: Person;
  /** The texts of the plan's card. */
  plan: string[];
  usage: [text: string, percent: number];
  /** The button of the subscription and its description. */
  button: [name: string, hint: string];
};

const upgrade: Row['button'] = ['Upgrade Your Plan', 'Access our plans and upgrade to unlock more features'];
const unpaid: Row['button'] = ['Manage Subscription', 'View billing history and manage payment methods'];
const subscription: Row['button'] = [
  'Manage Subscription',
  'Update payment method, change plan, or cancel subscription',
];

/** One row for each field of the profile that the cards read, each with a count of its own; tests/rules has every case. */
const rows: Row[] = [
  {
    person: { ...trial, used: 1 },
    plan: ['Free Trial', 'Trial ends on January 5, 2025 and will switch to Basic'],
    usage: ['1 / 70', 1],
    button: ['Manage Scheduled Plan', 'Modify or cancel your scheduled plan'],
  },
  {
    person: { ...trial, cancelAtDate: renewalDate, used: 2 },
    plan: ['Free Trial'],
    usage: ['2 / 70', 3],
    button: ['Manage Cancellation', 'Reactivate your subscription or change your plan'],
  },
  {
    person: {
      tier: 'premium',
      subscriptionStatus: 'downgrade_scheduled',
      scheduled: 'basic',
      cancelAtDate,
      renewalDate,
      used: 69,
    },
    plan: [
      'Downgrade scheduled. Changes to Basic on February 28, 2025',
      'Room for deeper conversations, several times a day.',
    ],
    usage: ['69 / 70', 99],
    button: ['Manage Cancellation', 'Reactivate your subscription or change your plan'],
  },
  {
    person: { tier: 'basic', subscriptionStatus: 'past_due', renewalDate, used: 44 },
    plan: ['Payment Past Due', 'Please update your payment method to reactivate.'],
    usage: ['44 / 30', 100],
    button: unpaid,
  },
  {
    person: { tier: null, subscriptionStatus: null, used: 2 },
    plan: ['Free plan - upgrade to get full access'],
    usage: ['2 / 5', 40],
    button: upgrade,
  },
  {
    person: { tier: 'basic', renewalDate, used: 3 },
    plan: ['Renews on January 5, 2025'],
    usage: ['3 / 30', 10],
    button: subscription,
  },
  {
    person: { tier: 'platinum', renewalDate, used: 5 },
    plan: ['Platinum'],
    usage: ['5 / 160', 3],
    button: subscription,
  },
  // A plan of an unknown name counts as free.
  {
    person: { tier: 'gold', renewalDate, used: 4 },
    plan: ['Free', 'A gentle way to get to know Solace.'],
    usage: ['4 / 5', 80],
    button: upgrade,
  },
];

test('the cards show the plan, its next change, how much of the week is used, and what the button is for', async ({
  page,
  stub,
}) => {
  await openAccount(page, stub);
  for (const { person, plan, usage, button } of rows) {
    stub.person(person);
    await returnToTab(page);
    const what = JSON.stringify(person);
    const [text, percent] = usage;
    await expect(usageCard(page).getByText(text, { exact: true }), what).toBeVisible();
    const bar = usageCard(page).getByRole('progressbar', { name: 'Messages used this week:' });
    await expect(bar, what).toHaveAttribute('aria-valuenow', String(percent));
    await expect(bar).toHaveAttribute('aria-valuetext', `${text.replace(' / ', ' of ')} messages used`);
    const isFree = button === upgrade;
    await expect(usageCard(page).getByText('Upgrade for more messages.'), what).toHaveCount(isFree ? 1 : 0);
    for (const line of plan) await expect(planCard(page).getByText(line, { exact: true }), what).toBeVisible();
    for (const line of ['Free Trial', 'Please update your payment method to reactivate.'])
      await expect(planCard(page).getByText(line), what).toHaveCount(plan.includes(line) ? 1 : 0);
    const [name, hint] = button;
    await expect(management(page).getByRole('button', { name, exact: true }), what).toHaveAccessibleDescription(hint);
  }
  await expect(management(page).getByRole('button', { name: 'Billing Management' })).toHaveAccessibleDescription(
    'Access payment details, invoices, and subscription info',
  );
});

test('a refresh fetches the profile and shows the result, with a skeleton meanwhile', async ({ page, stub }) => {
  await openAccount(page, stub, { tier: 'basic', renewalDate, used: 3 });
  await expect(page.getByText('3 / 30')).toBeVisible();
  const refreshes = [
    ['Refresh plan', 4, () => stub.respond('getMe', { success: false })],
    ['Refresh usage', 5, () => stub.respond('getMe', { success: false, message: 'Nobody is here.' }, 403)],
  ] as const;
  for (const [name, used, fail] of refreshes) {
    const refresh = page.getByRole('button', { name });
    const before = await usageCard(page).boundingBox();
    stub.person({ tier: 'basic', renewalDate, used });
    const release = stub.hold('getMe');
    await refresh.click();
    await expect(usageCard(page).locator('[aria-busy=true] [data-loading=true]')).toBeVisible();
    expect(await usageCard(page).boundingBox()).toEqual(before);
    release();
    await expect(usageCard(page).locator('[data-loading=true]')).toHaveCount(0);
    await expect(page.getByText(`${used} / 30`)).toBeVisible();
    await expectToasts(page, ['Success', 'Profile refreshed successfully']);
    await dismissToasts(page);
    fail();
    await refresh.click();
    await expectToasts(page, ['Error', 'Failed to refresh profile']);
    await dismissToasts(page);
    await expect(page.getByText(`${used} / 30`)).toBeVisible();
  }
});

test('a failed read is tried once more after a second, and no more', async ({ page, stub }) => {
  await stopTime(page);
  await openAccount(page, stub);
  await expect(planCard(page)).toBeVisible();
  const before = stub.calls('getMe').length;
  const made = () => stub.calls('getMe').length - before;
  stub.respond('getMe', {}, 503);
  const refused = page.waitForResponse(/\/api\/user\/me$/);
  await page.getByRole('button', { name: 'Refresh plan' }).click();
  await refused;
  // The second fetch begins after the page, not only the browser, has the response.
  await settle(page);
  await page.clock.runFor(999);
  await settle(page);
  expect(made()).toBe(1);
  await page.clock.runFor(1);
  await expect.poll(made).toBe(2);
  await page.clock.resume();
  await expectToasts(page, ['Error', 'Failed to refresh profile']);
  await page.clock.fastForward(60_000);
  await settle(page);
  expect(made()).toBe(2);
});

test('a plan without a limit tracks nothing, and one without end compares as Unlimited', async ({ page, stub }) => {
  await page.route('**/assets/**/*.js', async (route) => {
    const response = await route.fetch();
    const code = await response.text();
    const body = code.replace('messageLimit:70', 'messageLimit:null').replace('messageLimit:160', 'messageLimit:-1');
    await route.fulfill({ response, body });
  });
  await openAccount(page, stub, { tier: 'premium', used: 7 });
  await expect(usageCard(page).getByText('Usage tracking not applicable for this plan.')).toBeVisible();
  await expect(usageCard(page).getByRole('progressbar')).toHaveCount(0);
  const row = page.getByRole('row', { name: /^Messages per week/ });
  await expect(row.getByRole('cell').last()).toHaveText('Unlimited');
});
