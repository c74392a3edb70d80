import type { Page } from 'playwright/test';
import { dismissToasts, expectToasts, open, openAccount, returnToTab } from './support/page.ts';
import { elsewhere, servePayments, type Stub } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';

const catalogue = [
  { id: 'free', name: 'Free', price: 'Free', fourWeeks: null, messages: '5', hasVoice: false },
  { id: 'basic', name: 'Basic', price: '$11.99', fourWeeks: '$47.96', messages: '30', hasVoice: true },
  { id: 'premium', name: 'Premium', price: '$29.99', fourWeeks: '$119.96', messages: '70', hasVoice: true },
  { id: 'platinum', name: 'Platinum', price: '$79.99', fourWeeks: '$319.96', messages: '160', hasVoice: true },
] as const;

const cards = (page: Page) =>
  page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ has: page.getByRole('heading') });

test('four plans stand in order, with price, allowance and voice', async ({ page }) => {
  await open(page, '/plans');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Choose Your Plan');
  await expect(cards(page)).toHaveCount(4);
  for (const [index, { id, name, price, fourWeeks, messages, hasVoice }] of catalogue.entries()) {
    const card = cards(page).nth(index);
    await expect(card.getByRole('heading')).toHaveText(name);
    await expect(card.getByText(/^\S+ ?\/per month$/)).toHaveText(
      new RegExp(`^\\${price[0]}${price.slice(1)} ?/per month$`),
    );
    await expect(card.getByText('Charged every week')).toHaveCount(fourWeeks ? 1 : 0);
    await expect(card.getByText(/for four weeks$/)).toHaveText(fourWeeks ? [`${fourWeeks} for four weeks`] : []);
    await expect(card.getByText(`${messages} messages per week`, { exact: true })).toBeVisible();
    await expect(card.getByText(/voice/i)).toHaveCount(hasVoice ? 1 : 0);
    await expect(card.getByText('Most Popular')).toHaveCount(id === 'premium' ? 1 : 0);
    await expect(card.getByRole('link')).toHaveAttribute('href', `/login?plan=${id}`);
  }
  await page.getByRole('link', { name: 'Contact Support' }).click();
  await page.waitForURL('**/contact');
});

const actions = {
  free: ['Current Plan', 'Choose Basic', 'Choose Premium', 'Choose Platinum'],
  basic: ['Manage in My Account', 'Current Plan', 'Switch to Premium', 'Switch to Platinum'],
  premium: ['Manage in My Account', 'Switch to Basic', 'Current Plan', 'Switch to Platinum'],
  platinum: ['Manage in My Account', 'Switch to Basic', 'Switch to Premium', 'Current Plan'],
  inactive: ['Current Plan', 'Choose Basic', 'Choose Premium', 'Choose Platinum'],
} as const;

const failures: [arrange: (stub: Stub) => void, told: string][] = [
  [(stub) => stub.respond('createSubscriptionUpdateSession', { success: false, message: 'Closed.' }), 'Closed.'],
  [(stub) => stub.respond('createSubscriptionUpdateSession', { success: true }), 'Failed to create portal session'],
  [(stub) => stub.respond('createSubscriptionUpdateSession', {}, 404), 'Failed to open subscription management'],
  [(stub) => stub.respond('createSubscriptionUpdateSession', {}, 503), 'Server error. Please try again later.'],
];

test('a subscriber sees what each plan would mean; one is bought at the payment provider, or it says why not, once', async ({
  page,
  stub,
}) => {
  await stub.signedIn();
  for (const [tier, labels] of Object.entries(actions)) {
    stub.person({ tier });
    await open(page, '/plans');
    for (const [index, label] of labels.entries())
      await expect(cards(page).nth(index).getByText(label, { exact: true }), `${tier}: ${label}`).toBeVisible();
  }
  for (const [arrange, told] of failures) {
    arrange(stub);
    await page.getByRole('button', { name: 'Choose Platinum' }).click();
    await expectToasts(page, ['Error', told]);
    await dismissToasts(page);
  }
  stub.respond('createSubscriptionUpdateSession', { success: true, portalUrl: `${elsewhere}/checkout` });
  await servePayments(page);
  const release = stub.hold('createSubscriptionUpdateSession');
  await page.getByRole('button', { name: 'Choose Premium' }).click();
  await expect(page.getByRole('button', { name: 'Opening...' })).toHaveAttribute('aria-busy', 'true');
  release();
  await page.waitForURL(`${elsewhere}/checkout`);
  expect(stub.calls('createSubscriptionUpdateSession').at(-1)).toMatchObject({ body: { tier: 'premium' } });
});

test('the table compares the four plans, marks the present one and fits narrow screens', async ({ page, stub }) => {
  await openAccount(page, stub);
  const region = page.getByRole('region', { name: 'Compare Plans' });
  const table = region.getByRole('table');
  const row = (name: string) => table.getByRole('row', { name: new RegExp(`^${name}`) }).getByRole('cell');
  await expect(row('Messages per week')).toHaveText(['5', '30', '70', '160']);
  await expect(row('Voice messages')).toHaveText(['Not included', 'Included', 'Included', 'Included']);
  await expect(row('Customer support')).toHaveText(['Community', 'Email', 'Priority', 'Priority']);
  await expect(row('Priority response')).toHaveText(['Not included', 'Not included', 'Not included', 'Included']);

  const heads = ['FreeFree', 'Basic$11.99', 'Premium$29.99', 'Platinum$79.99'];
  for (const [index, tier] of ['free', 'basic', 'premium', 'platinum'].entries()) {
    stub.person({ tier });
    await returnToTab(page);
    const marked = heads.map((head, column) => (column === index ? `${head}Current Plan` : head));
    await expect(table.getByRole('columnheader')).toHaveText(['Feature', ...marked]);
  }
  for (const width of [320, 360, 412]) {
    await page.setViewportSize({ width, height: 800 });
    const edges = await region
      .getByRole('cell')
      .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().right));
    expect(edges).toHaveLength(16);
    expect(Math.max(...edges), `${width} px`).toBeLessThanOrEqual(width);
    const overflowing = await region
      .locator('th, td')
      .evaluateAll((cells) =>
        cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent),
      );
    expect(overflowing, `${width} px`).toEqual([]);
  }
});
