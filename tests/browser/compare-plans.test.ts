import { returnToTab, expect, open, test } from './support/stubbed.ts';

test('the table compares the four plans and marks the present one', async ({ page, stub }) => {
  await stub.signedIn();
  await open(page, '/account');
  const table = page.getByRole('region', { name: 'Compare Plans' }).getByRole('table');
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
});

for (const width of [320, 360, 412]) {
  test(`the whole comparison fits a screen of ${width} pixels`, async ({ page, stub }) => {
    await page.setViewportSize({ width, height: 800 });
    await stub.signedIn({ tier: 'platinum' });
    await open(page, '/account');
    const region = page.getByRole('region', { name: 'Compare Plans' });
    await expect(region.getByRole('columnheader', { name: /^Platinum/ })).toContainText('Current Plan');
    const edges = await region
      .getByRole('cell')
      .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().right));
    expect(edges).toHaveLength(16);
    expect(Math.max(...edges)).toBeLessThanOrEqual(width);
    const overflowing = await region
      .locator('th, td')
      .evaluateAll((cells) =>
        cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent),
      );
    expect(overflowing).toEqual([]);
  });
}
