import { expect, open, test } from './support/stubbed.ts';

const statements = {
  '/terms': [
    /Last updated February 16, 2025/,
    /Conversations are encrypted/,
    /no human reviews them/,
    /AI partner processes messages from which identifying details have been removed/,
    /billed weekly/,
    /cancel your subscription at any time from your account page/,
    /allowance is reset every week/,
    /no refunds or credits for partial periods/,
    /not a medical device .*not a health-care provider/,
  ],
  '/privacy': [
    /Last updated February 16, 2025/,
    /Your conversations are encrypted/,
    /No human reviews your conversations/,
    /AI partner processes de-identified messages only/,
    /Your rights/,
    /erase it/,
    /is not a medical service/,
  ],
} as const;

for (const [path, lines] of Object.entries(statements)) {
  test(`${path} makes every statement`, async ({ page }) => {
    await open(page, path);
    const main = page.getByRole('main');
    for (const line of lines) await expect(main).toContainText(line);
  });
}
