import { askForCode, enterCode } from './support/login.ts';
import { dismissNotices, expect, expectNotices, open, storedToken, test } from './support/stubbed.ts';

const rows = [
  { status: 'approved', to: '/account' },
  { status: undefined, to: '/account' },
  { status: 'authenticated', to: '/account' },
  { status: 'pending', to: '/pending-approval' },
  { status: 'approved', query: '?plan=premium', to: '/account', told: ['Login successful!'] },
  { status: 'approved', query: '?plan=gold', to: '/account' },
  { status: 'suspended', query: '?plan=free', to: '/account', told: ['Login successful!'] },
  {
    status: 'suspended',
    to: '/',
    told: ['Login Issue', 'Account status: suspended. Please contact support.'],
    isBad: true,
  },
] as const;

for (const { status, to, ...row } of rows) {
  const query = 'query' in row ? row.query : '';
  test(`a good code for the status ${status} ${query} leads to ${to}`, async ({ page, stub }) => {
    stub.person({ status: status ?? 'approved' });
    stub.respond('verifyOtp', { success: true, token: 'e2e-new', ...(status && { status }) });
    await askForCode(page, `/login${query}`);
    await dismissNotices(page);
    await enterCode(page);
    await page.waitForURL((url) => url.pathname === to);
    if ('told' in row) await expectNotices(page, row.told);
    else await expectNotices(page);
    await expect(page.locator('[data-part=root][data-type=error][data-state=open]')).toHaveCount(
      'isBad' in row ? 1 : 0,
    );
    expect(await storedToken(page)).toBe('e2e-new');
    await expect(page.getByRole('link', { name: 'My Account' })).toBeVisible();
  });
}

test('the plan of the address is shown before logging in', async ({ page }) => {
  await open(page, '/login?plan=premium');
  await expect(page.getByRole('main')).toContainText('You chose the Premium plan.');
});
