import type { Page } from 'playwright/test';
import { layoutShift } from './support/first-paint.ts';
import type { Person } from './support/person.ts';
import { expect, test } from './support/stubbed.ts';

const people: [name: string, person: Person, texts: string[]][] = [
  [
    'in a trial',
    { tier: 'premium', subscriptionStatus: 'trialing', renewalDate: '2025-03-11T09:00:00.000Z', used: 3 },
    ['+1 555-123-4567', 'Premium', 'Trial ends on March 11, 2025', 'Messages used this week:', '3 / 70'],
  ],
  [
    'whose payment is past due',
    { tier: 'basic', subscriptionStatus: 'past_due', used: 30, phoneNumber: '+447911123456' },
    ['+44 791-112-3456', 'Basic', 'Payment Past Due', 'Please update your payment method to reactivate.', '30 / 30'],
  ],
];

/** Where the texts themselves begin, whatever the size of their elements. */
const places = (page: Page, texts: string[]) =>
  Promise.all(
    texts.map((text) =>
      page
        .getByRole('main')
        .getByText(text, { exact: true })
        .first()
        .evaluate((element) => {
          const range = document.createRange();
          range.selectNodeContents(element);
          const { x, y } = range.getBoundingClientRect();
          return [element.textContent, Math.round(x), Math.round(y)];
        }),
    ),
  );

for (const width of [360, 768, 1440])
  for (const [name, person, texts] of people)
    test(`the account of somebody ${name} shows before the scripts and stays in its place, ${width} px`, async ({
      page,
      stub,
    }) => {
      await page.setViewportSize({ width, height: 900 });
      await stub.signedIn(person);
      const { promise, resolve } = Promise.withResolvers<void>();
      await page.route('**/assets/*.js', async (route) => promise.then(() => route.fallback()));
      await page.goto('/account', { waitUntil: 'commit' });
      for (const text of texts) await expect(page.getByRole('main').getByText(text, { exact: true })).toBeVisible();
      await expect(page.getByText('Loading application...')).toBeVisible();
      await expect(page.getByRole('main').getByRole('link', { name: 'Get help now' })).toBeVisible();
      const served = await places(page, texts);
      resolve();
      await expect(page.getByRole('button', { name: 'Logout' })).toBeVisible();
      expect(await places(page, texts)).toEqual(served);
      // The hint of a past-due payment takes a line that the frame does not have.
      if (person.subscriptionStatus !== 'past_due') expect(await layoutShift(page)).toBe(0);
      expect(stub.calls('getMe')).toHaveLength(1);
    });
