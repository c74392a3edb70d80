import type { Locator, Page } from 'playwright/test';
import {
  expectToBeAccessible,
  expectToFit,
  open,
  openAccount,
  returnToTab,
  settle,
  takeToasts,
  deleteAccount,
  follow,
} from './support/page.ts';
import { elsewhere, servePayments } from './support/stub.ts';
import {
  expect,
  isFull,
  stubbed,
  buy,
  signInByExternalToken,
  startNowBox,
  test,
  toPayment,
} from './support/test.ts';
import { day, hour } from './support/phone.ts';

const catalogue = [
  {
    id: 'free',
    name: 'Free',
    price: 'Free',
    fourWeeks: null,
    messages: '5',
  },
  {
    id: 'basic',
    name: 'Basic',
    price: '$11.99',
    fourWeeks: '$47.96',
    messages: '30',
  },
  {
    id: 'premium',
    name: 'Premium',
    price: '$29.99',
    fourWeeks: '$119.96',
    messages: '70',
  },
  {
    id: 'platinum',
    name: 'Platinum',
    price: '$79.99',
    fourWeeks: '$319.96',
    messages: '160',
  },
] as const;

const cards = (page: Page) => page.locator('main li', { has: page.getByRole('heading') });

stubbed('four plans stand in order, with price, allowance and voice', async ({ page }) => {
  await open(page, '/plans');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Choose Your Plan');
  await expect(cards(page)).toHaveCount(4);
  for (const [index, { id, name, price, fourWeeks, messages }] of catalogue.entries()) {
    const card = cards(page).nth(index);
    await expect(card.getByRole('heading')).toHaveText(name);
    await expect(card.getByText(/^\S+ ?\/per month$/)).toContainText(price);
    await expect(card.getByText('Charged every week')).toHaveCount(fourWeeks ? 1 : 0);
    await expect(card.getByText(/for four weeks$/)).toHaveText(
      fourWeeks ? [`${fourWeeks} for four weeks`] : [],
    );
    await expect(card.getByText(`${messages} messages per week`, { exact: true })).toBeVisible();
    await expect(card.getByText(/voice/i)).toHaveCount(id === 'free' ? 0 : 1);
    await expect(card.getByText('Most Popular')).toHaveCount(id === 'premium' ? 1 : 0);
    await expect(card.getByRole('link')).toHaveAttribute('href', `/login?plan=${id}`);
  }
  await follow(page.getByRole('link', { name: 'Contact Support' }), '**/contact');
});

const trial = 'Keep Premium after the trial';
/** Of each person; tests/rules has the others. */
const actions = [
  [
    { tier: 'premium', isTrial: true },
    ['Manage in My Account', 'Switch to Basic', trial, 'Switch to Platinum'],
  ],
  [{ tier: 'inactive' }, ['Current Plan', 'Choose Basic', 'Choose Premium', 'Choose Platinum']],
] as const;

stubbed(
  'each plan says what it would mean; one is bought at the payment provider, or not',
  async ({ page, stub }) => {
    await stub.signedIn();
    for (const [person, labels] of actions) {
      stub.person(person);
      await open(page, '/plans');
      for (const [index, label] of labels.entries())
        await expect(
          cards(page).nth(index).getByText(label, { exact: true }),
          `${person.tier}: ${label}`,
        ).toBeVisible();
    }
    stub.respond('createSubscriptionUpdateSession', {
      success: false,
      message: 'Closed.',
    });
    await page.getByRole('button', { name: 'Choose Platinum' }).click();
    await toPayment(page).click();
    await takeToasts(page, ['Error', 'Closed.']);
    stub.respond('createSubscriptionUpdateSession', {
      success: true,
      portalUrl: `${elsewhere}/checkout`,
    });
    await servePayments(page);
    const visits: string[] = [];
    page.on(
      'request',
      (request) => request.url().startsWith(elsewhere) && visits.push(request.url()),
    );
    await follow(page.getByRole('link', { name: 'Back to the plans' }), '**/plans');
    await page.getByRole('button', { name: 'Choose Premium' }).click();
    const answer = stub.hold('createSubscriptionUpdateSession');
    await toPayment(page).dblclick();
    await page.getByRole('link', { name: 'My Account' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
    const answered = page.waitForResponse('**/create-subscription-update-session*');
    answer();
    await answered;
    await settle(page);
    expect(stub.calls('createSubscriptionUpdateSession')).toHaveLength(2);
    await page.goBack();
    const release = stub.hold('createSubscriptionUpdateSession');
    await toPayment(page).click();
    await expect(page.getByRole('button', { name: 'Opening...' })).toHaveAttribute(
      'aria-busy',
      'true',
    );
    release();
    await page.waitForURL(`${elsewhere}/checkout`);
    expect(stub.calls('createSubscriptionUpdateSession').at(-1)).toMatchObject({
      body: { tier: 'premium', startNow: false },
    });
    expect(visits).toEqual([`${elsewhere}/checkout`]);
  },
);

/** Who looks at which plan; what is said of the first payment; whether the order is a contract of its own. */
const reviews = [
  [{}, 'premium', '$29.99 today.', 'Go to payment', true],
  [
    { tier: 'basic', renewalDate: '2026-12-01T09:00:00.000Z' },
    'platinum',
    '$79.99 today, less what is left of your present week. A new week begins at once.',
    'Go to payment',
    true,
  ],
  [
    { tier: 'premium', renewalDate: '2026-12-01T09:00:00.000Z' },
    'basic',
    'Nothing today. Your present plan stays until December 1, 2026, and then the first week costs $11.99.',
    'Go to the change',
    false,
  ],
  [
    {
      tier: 'premium',
      isTrial: true,
      renewalDate: '2026-12-01T09:00:00.000Z',
    },
    'basic',
    '$11.99 on December 1, 2026, when your trial ends. Nothing before that.',
    'Go to payment details',
    true,
  ],
] as const;

stubbed(
  'a review tells what is ordered, and asks unticked whether to begin at once',
  async ({ page, stub }) => {
    stub.respond('createSubscriptionUpdateSession', {
      success: true,
      portalUrl: '/account',
    });
    // tests/rules has the sentences of the other reviews.
    for (const [index, review] of (isFull ? reviews : reviews.slice(1, 3)).entries()) {
      const [person, plan, first, action, concludes] = review;
      await stub.signedIn(person);
      await open(page, `/order?plan=${plan}`);
      const definition = (name: string) =>
        page
          .getByRole('term')
          .filter({ hasText: new RegExp(`^${name}$`) })
          .locator('xpath=following-sibling::dd');
      await expect(definition('First payment')).toHaveText(first);
      await expect(definition('Renewal')).toHaveText('Every week at this price, until you cancel.');
      await expect(definition('Cancelling')).toContainText('“Cancel subscription”');
      await expect(definition('Withdrawing')).toHaveCount(concludes ? 1 : 0);
      await expect(startNowBox(page)).toHaveCount(concludes ? 1 : 0);
      await expectToFit(page, 320, 360);
      if (index === 0 || isFull) await expectToBeAccessible(page);

      const isTicked = concludes && plan !== 'premium';
      if (isTicked) {
        await expect(startNowBox(page)).not.toBeChecked();
        await startNowBox(page).press('Space');
        await page.keyboard.press('Tab');
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
      } else
        await page
          .getByRole('button', {
            name: action,
            exact: true,
          })
          .click();
      await page.waitForURL('**/account');
      expect(stub.calls('createSubscriptionUpdateSession').at(-1)).toMatchObject({
        body: { tier: plan, startNow: isTicked },
      });
    }
  },
);

const dated = {
  tier: 'premium',
  renewalDate: '2026-12-01T09:00:00.000Z',
};
const onTrial = {
  ...dated,
  isTrial: true,
  subscriptionStatus: 'trialing',
};

stubbed(
  'the plan that is tried can be kept, and is marked once it is booked',
  { tag: '@full' },
  async ({ page, stub }) => {
    stub.respond('createSubscriptionUpdateSession', {
      success: true,
      portalUrl: '/account',
    });
    await stub.signedIn(onTrial);
    await open(page, '/plans');
    await page.getByRole('button', { name: 'Keep Premium after the trial' }).click();
    await expect(
      page.getByText('$29.99 on December 1, 2026, when your trial ends. Nothing before that.'),
    ).toBeVisible();
    await page.getByRole('button', { name: 'Go to payment details' }).click();
    await page.waitForURL('**/account');
    expect(stub.calls('createSubscriptionUpdateSession').at(-1)).toMatchObject({
      body: { tier: 'premium', startNow: false },
    });

    stub.person({ ...onTrial, scheduled: 'premium' });
    await open(page, '/plans');
    await expect(cards(page).nth(2).getByText('Scheduled from December 1, 2026')).toBeVisible();
    await expect(cards(page).nth(2).getByRole('button')).toHaveCount(0);
    await expectToFit(page, 320, 1440);
  },
);

stubbed('a review says first what stands in the way, and leads there', async ({ page, stub }) => {
  stub.respond('createSubscriptionUpdateSession', {
    success: true,
    portalUrl: '/account',
  });
  await stub.signedIn({
    ...dated,
    subscriptionStatus: 'downgrade_scheduled',
    scheduled: 'basic',
  });
  await open(page, '/plans');
  await expect(cards(page).nth(1).getByText('Scheduled from December 1, 2026')).toBeVisible();
  await page.getByRole('button', { name: 'Switch to Platinum' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(
    'First take back the scheduled change',
  );
  await expectToFit(page, 320, 360);
  await page.getByRole('button', { name: 'Go to the scheduled change' }).click();
  await page.waitForURL('**/account');
  const asked = stub.calls('createSubscriptionUpdateSession');
  expect(asked.map(({ body }) => body)).toEqual([null]);

  stub.person({ ...dated, cancelAtDate: dated.renewalDate });
  await open(page, '/order?plan=platinum');
  await follow(page.getByRole('link', { name: 'Go to the cancellation' }), '**/cancel');
});

stubbed('a review keeps the plan for the login', async ({ page }) => {
  await open(page, '/order?plan=premium');
  await page.waitForURL('**/login?plan=premium');
});

stubbed(
  'a review without a plan that is on sale leads to the plans',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stub.signedIn({ tier: 'basic' });
    for (const search of ['', '?plan=', '?plan=free', '?plan=basic', '?plan=<b>']) {
      await open(page, `/order${search}`);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('Choose Your Plan');
    }
  },
);

const linesOf = (text: Locator): Promise<number> =>
  text.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return range.getClientRects().length;
  });

stubbed(
  'the table compares the four plans, marks the present one and fits narrow screens',
  async ({ page, stub }) => {
    await openAccount(page, stub);
    const region = page.getByRole('region', { name: 'Compare Plans' });
    const table = region.getByRole('table');
    const row = (name: string) =>
      table.getByRole('row', { name: new RegExp(`^${name}`) }).getByRole('cell');
    await expect(row('Messages per week')).toHaveText(['5', '30', '70', '160']);
    await expect(row('Voice messages')).toHaveText([
      'Not included',
      'Included',
      'Included',
      'Included',
    ]);
    await expect(row('Customer support')).toHaveText([
      'Community',
      'Email',
      'Priority',
      'Priority',
    ]);
    await expect(row('Priority response')).toHaveText([
      'Not included',
      'Not included',
      'Not included',
      'Included',
    ]);

    const heads = ['FreeFree', 'Basic$11.99', 'Premium$29.99', 'Platinum$79.99'];
    for (const [index, tier] of ['free', 'basic', 'premium', 'platinum'].entries()) {
      if (!isFull && index % 2 === 0) continue;
      stub.person({ tier });
      await returnToTab(page);
      const marked = heads.with(index, `${heads[index]}Current Plan`);
      await expect(table.getByRole('columnheader')).toHaveText(['Feature', ...marked]);
    }
    const cells = region.locator('th, td');
    const scroller = region.getByRole('region');
    await expect(cells).toHaveCount(25);
    for (const width of isFull ? [320, 360, 412, 768, 1024, 1100, 1280] : [320, 768, 1100]) {
      await page.setViewportSize({ width, height: 800 });
      const hidden = await scroller.evaluate((part) => part.scrollWidth - part.clientWidth);
      expect.soft(hidden, `hidden at ${width} px`).toBeLessThanOrEqual(0);
      const overflowing = await cells.evaluateAll((all) =>
        all
          .filter(
            (cell) =>
              cell.scrollWidth > cell.clientWidth + 1 ||
              cell.getBoundingClientRect().right > innerWidth,
          )
          .map((cell) => cell.textContent),
      );
      expect(overflowing, `${width} px`).toEqual([]);
    }
    // The longest word of a column.
    await page.setViewportSize({ width: 320, height: 800 });
    await page.goto('/pt-br/account');
    expect(await linesOf(page.getByText('Comunidade', { exact: true }))).toBe(1);
  },
);

const expectPlan = (page: Page, text: string | RegExp) =>
  expect(
    page.getByRole('region', { name: 'Current Plan' }).getByText(text, { exact: true }),
  ).toBeVisible();
const renews = /^Renews on /;

async function openPortal(page: Page): Promise<Page> {
  const popup = page.waitForEvent('popup');
  await page.getByRole('button', { name: 'Manage Subscription' }).click();
  return popup;
}

test(
  'a dearer plan begins a new week at once, and a cheaper one at the end of the week',
  { tag: '@full' },
  async ({ page, phone }) => {
    await signInByExternalToken(page, phone);
    await buy(page);
    await phone.write('Hello again');
    await expect(page.getByText('1 / 30')).toBeVisible();
    // Stripe counts in seconds: a change in the second of the purchase begins no new week.
    await phone.advance(hour);
    const portal = await openPortal(page);
    await portal.getByRole('button', { name: 'Switch to Premium' }).click();
    await expectPlan(page, 'Premium');
    await expect(page.getByText('0 / 70')).toBeVisible();
    const again = await openPortal(page);
    await again.getByRole('button', { name: 'Switch to Basic' }).click();
    await expectPlan(page, /^Downgrade scheduled\. Changes to Basic on /);
    await phone.advance(7 * day);
    await expectPlan(page, 'Basic');
    await expectPlan(page, renews);
  },
);

test(
  'two tabs and double clicks buy one plan once, which a deletion ends',
  { tag: '@full' },
  async ({ page, context, phone }) => {
    await signInByExternalToken(page, phone);
    const other = await context.newPage();
    for (const tab of [page, other]) await tab.goto('/plans');
    await Promise.all(
      [page, other].map((tab) => tab.getByRole('button', { name: 'Choose Basic' }).dblclick()),
    );
    await Promise.all([page, other].map((tab) => toPayment(tab).dblclick()));
    for (const tab of [page, other])
      await expect(tab.getByRole('button', { name: 'Subscribe' })).toBeVisible();
    expect(new URL(page.url()).pathname).toBe(new URL(other.url()).pathname);
    await page.getByRole('button', { name: 'Subscribe' }).dblclick();
    await expect(page.getByRole('heading', { name: 'Payment Successful!' })).toBeVisible();
    expect(await phone.subscriptionStates()).toEqual(['active']);
    await page.getByRole('link', { name: 'Manage My Account' }).click();
    await expectPlan(page, renews);
    await expect(page.getByText('0 / 30')).toBeVisible();

    // Deleting the account ends what could charge.
    await deleteAccount(page);
    await page.waitForURL('**/login');
    const { customer, subscriptions } = await phone.holdings();
    expect(customer['deleted']).toBe(true);
    expect(subscriptions.map(({ status }) => status)).toEqual(['canceled']);
  },
);
