import type { Page } from 'playwright/test';
import { pageOf } from './support/chat.ts';
import { holdAssets, openServedFirst, watchMoves } from './support/first-paint.ts';
import {
  expectToasts,
  installClock,
  openAccount,
  returnToTab,
  settle,
  stopTime,
  takeToasts,
} from './support/page.ts';
import type { Person } from './support/stub.ts';
import { expect, isFull, stubbed as test } from './support/test.ts';

const planCard = (page: Page) => page.getByRole('region', { name: 'Current Plan' });
const usageCard = (page: Page) =>
  page.getByRole('region', {
    name: 'Usage',
    exact: true,
  });
const management = (page: Page) => page.getByRole('region', { name: 'Account Management' });
const renewalDate = '2025-01-05T09:00:00.000Z';
const payment = 'Please update your payment method to reactivate.';

type Row = [
  person: Person,
  plan: string[],
  usage: [text: string, percent: number],
  button: [string, string],
];

/** Persons that differ in the fields of the profile that the cards read; tests/rules has every case, `cancel.test.ts` the date of a cancellation. */
const rows: Row[] = [
  [
    {
      tier: 'premium',
      isTrial: true,
      subscriptionStatus: 'trialing',
      renewalDate,
      scheduled: 'basic',
      used: 1,
    },
    ['Free Trial', 'Trial ends on January 5, 2025 and will switch to Basic'],
    ['1 / 70', 1],
    ['Manage Scheduled Plan', 'Modify or cancel your scheduled plan'],
  ],
  [
    {
      tier: 'basic',
      subscriptionStatus: 'past_due',
      renewalDate,
      used: 44,
    },
    ['Payment Past Due', payment],
    ['44 / 30', 100],
    ['Manage Subscription', 'View billing history and manage payment methods'],
  ],
  [
    { tier: null, subscriptionStatus: null, used: 2 },
    ['A gentle way to get to know Solace.', 'Free plan - upgrade to get full access'],
    ['2 / 5', 40],
    ['Upgrade Your Plan', 'Access our plans and upgrade to unlock more features'],
  ],
];

test(
  'the cards show the plan, its next change, the used part of the week, and a hint',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openAccount(page, stub);
    for (const [person, plan, [text, percent], [name, hint]] of rows) {
      stub.person(person);
      await returnToTab(page);
      await expect(usageCard(page).getByText(text, { exact: true })).toBeVisible();
      const bar = usageCard(page).getByRole('progressbar', { name: 'Messages used this week:' });
      await expect(bar, text).toHaveAttribute('aria-valuenow', String(percent));
      await expect(bar).toHaveAttribute(
        'aria-valuetext',
        `${text.replace(' / ', ' of ')} messages used`,
      );
      await expect(usageCard(page).getByText('Upgrade for more messages.'), text).toHaveCount(
        person.tier ? 0 : 1,
      );
      for (const line of plan)
        await expect(planCard(page).getByText(line, { exact: true }), text).toBeVisible();
      for (const line of ['Free Trial', payment])
        await expect(planCard(page).getByText(line), text).toHaveCount(plan.includes(line) ? 1 : 0);
      await expect(
        management(page).getByRole('button', { name, exact: true }),
        text,
      ).toHaveAccessibleDescription(hint);
    }
    const billing = management(page).getByRole('button', { name: 'Billing Management' });
    await expect(billing).toHaveAccessibleDescription(
      'Access payment details, invoices, and subscription info',
    );
  },
);

test(
  'a refresh fetches the profile and shows the result, with a skeleton meanwhile',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openAccount(page, stub, { tier: 'basic', used: 3 });
    await expect(page.getByText('3 / 30')).toBeVisible();
    for (const [name, used, body, status] of [
      ['Refresh plan', 4, { success: false }, 200],
      ['Refresh usage', 5, { success: false, message: 'Nobody is here.' }, 403],
    ] as const) {
      const refresh = page.getByRole('button', { name });
      const before = await usageCard(page).boundingBox();
      stub.person({ tier: 'basic', used });
      const release = stub.hold('getMe');
      await refresh.click();
      await expect(usageCard(page).locator('[aria-busy=true] [data-loading=true]')).toBeVisible();
      expect(await usageCard(page).boundingBox()).toEqual(before);
      release();
      await expect(usageCard(page).locator('[data-loading=true]')).toHaveCount(0);
      await expect(page.getByText(`${used} / 30`)).toBeVisible();
      await takeToasts(page, ['Success', 'Profile refreshed successfully']);
      stub.respond('getMe', body, status);
      await refresh.click();
      await takeToasts(page, ['Error', 'Failed to refresh profile']);
      await expect(page.getByText(`${used} / 30`)).toBeVisible();
    }
  },
);

test('a missing file takes no page, and a press works later', async ({
  page,
  stub,
  expectedErrors,
}) => {
  expectedErrors.push(/ERR_FAILED/);
  await page.route('**/platform-choice.js', (route) => route.abort());
  await openAccount(page, stub);
  await expect(
    page.getByRole('region', { name: 'Messaging Platform' }).getByRole('alert'),
  ).toContainText('connection');
  // `setOffline` would not do: a file in the browser's cache loads without a connection.
  await page.route('**/assets/**/*.js', (route) => route.abort());
  const failure = page
    .getByRole('status')
    .getByText(/Failed to refresh profile|Please check your internet connection/);
  stub.respond('getMe', { success: false }, 200);
  const others = isFull ? ['Refresh plan', 'Change Number', 'Sessions'] : [];
  for (const name of [...others, 'Delete Account']) {
    await page.getByRole('button', { name }).click();
    await expect(failure, name).toBeVisible();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await expect(failure).toHaveCount(0);
  }
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Delete Account' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  stub.person({ tier: 'basic' });
  await page.getByRole('button', { name: 'Refresh Page' }).click();
  await expect(page.getByRole('radio', { name: 'WhatsApp' })).toBeVisible();
});

test(
  'a part that never comes names the reload, which brings it',
  { tag: '@full' },
  async ({ page, stub }) => {
    await installClock(page);
    await holdAssets(page, 'change-number.js');
    await openAccount(page, stub);
    const change = page.getByRole('button', { name: 'Change Number' });
    await change.click();
    await settle(page);
    await page.clock.fastForward(10_000);
    await expectToasts(page, [
      'Unable to connect to server. Please check your internet connection.',
    ]);
    // Nobody must hurry to press it.
    await page.clock.fastForward(60_000);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.getByRole('status').getByRole('button', { name: 'Refresh Page' }).click();
    await expect(page.getByRole('status').getByText('Refresh Page')).toHaveCount(0);
    await change.click();
    await expect(page.getByLabel('New phone number')).toBeVisible();
  },
);

test(
  'a failed read is tried once more after a second, and no more',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stopTime(page);
    // A page with a silent stream would read the profile, too.
    stub.openStream('usageStream');
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
    // The words come when the page has given up.
    await page.clock.resume();
    await expectToasts(page, ['Error', 'Failed to refresh profile']);
    expect(made()).toBe(2);
  },
);

test(
  'a plan without a limit tracks nothing, and one without end compares as Unlimited',
  { tag: '@full' },
  async ({ page, stub }) => {
    await page.route('**/assets/**/*.js', async (route) => {
      const response = await route.fetch();
      const code = await response.text();
      const body = code
        .replace('messageLimit:70', 'messageLimit:null')
        .replace('messageLimit:160', 'messageLimit:-1');
      await route.fulfill({ response, body });
    });
    await openAccount(page, stub, { tier: 'premium', used: 7 });
    await expect(
      usageCard(page).getByText('Usage tracking not applicable for this plan.'),
    ).toBeVisible();
    await expect(usageCard(page).getByRole('progressbar')).toHaveCount(0);
    const row = page.getByRole('row', { name: /^Messages per week/ });
    await expect(row.getByRole('cell').last()).toHaveText('Unlimited');
  },
);

test(
  'the frame of the account shows before the scripts; neither it nor the chat moves',
  { tag: '@full' },
  async ({ page, stub }) => {
    const renewalDate = '2025-03-11T09:00:00.000Z';
    await stub.signedIn({
      tier: 'premium',
      subscriptionStatus: 'trialing',
      renewalDate,
      used: 3,
    });
    const texts = [
      '+1 555-123-4567',
      'Premium',
      'Trial ends on March 11, 2025',
      'Messages used this week:',
      '3 / 70',
    ];
    stub.respond('getChat', pageOf([], { consent: null }));
    stub.openStream('usageStream');
    for (const width of [360, 768, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const release = await holdAssets(page);
      await page.goto('/account', { waitUntil: 'commit' });
      const accountMoves = await watchMoves(page);
      await expect(page.getByText('Loading application...')).toBeVisible();
      await expect(
        page.getByRole('main').getByRole('link', { name: 'Get help now' }),
      ).toBeVisible();
      await expect(planCard(page)).toBeVisible();
      release();
      for (const text of texts)
        await expect(page.getByRole('main').getByText(text, { exact: true }).first()).toBeVisible();
      await expect(page.getByText('Live', { exact: true })).toBeVisible();
      await expect(page.getByRole('radio').first()).toBeAttached();
      expect(await accountMoves(), `the account at ${width} px`).toEqual([]);
      await page.unrouteAll({ behavior: 'wait' });
      const chatMoves = await openServedFirst(page, '/chat');
      await expect(page.getByRole('checkbox').first()).toBeVisible();
      expect(await chatMoves(), `the chat at ${width} px`).toEqual([]);
    }
  },
);

test('what leads out of a plan fits its state, and no hint is printed without its button', async ({
  page,
  stub,
}) => {
  const leaving = page.getByRole('region', { name: 'Leaving a plan' });
  const links = leaving.getByRole('link');
  const trial = {
    tier: 'premium',
    isTrial: true,
    subscriptionStatus: 'trialing',
    renewalDate,
  };
  await openAccount(page, stub, {
    tier: 'premium',
    cancelAtDate: renewalDate,
  });
  await expect(links.first()).toHaveText('Keep my plan');
  await expect(leaving.getByText('It is cancelled and ends on January 5, 2025')).toBeVisible();

  stub.person({ tier: 'premium', renewalDate });
  await returnToTab(page);
  await expect(links.first()).toHaveText('Cancel subscription');
  const hint = page.getByText('Erase your account and everything in it');
  await expect(hint).toBeVisible();
  await page.emulateMedia({ media: 'print' });
  await expect(hint).toBeHidden();
  await page.emulateMedia({ media: 'screen' });

  stub.person(trial);
  await returnToTab(page);
  await expect(leaving).toHaveCount(0);
  const subscription = { ...shown, startDate: renewalDate };
  stub.respond('getSubscription', { success: true, subscription });
  stub.person({ ...trial, scheduled: 'premium' });
  await returnToTab(page);
  await expect(links.first()).toHaveText('Cancel subscription');
});

const shown = {
  tier: 'premium',
  status: 'trialing',
  renewalDate,
  cancelAtDate: null,
};
