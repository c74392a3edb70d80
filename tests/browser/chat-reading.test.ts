import { AxeBuilder } from '@axe-core/playwright';
import { botWrites, chat, openChat, send } from './support/chat.ts';
import { expect, test } from './support/test.ts';

test('shows the same conversation in two tabs', async ({ page, phone, context }) => {
  await openChat(page, phone);
  const other = await context.newPage();
  await other.goto('/chat');
  await expect(chat.field(other)).toBeVisible();
  await send(page, 'From the first tab');
  await expect(chat.message(other, 'From the first tab')).toHaveCount(1);
  await send(other, 'From the second tab');
  await expect(chat.message(page, 'From the second tab')).toHaveCount(1);
  await expect(chat.message(page, 'From the first tab')).toHaveCount(1);
});

test('opens the help panel with a reply that is marked as a crisis', async ({ page, phone }) => {
  await openChat(page, phone);
  await send(page, 'This is a crisis');
  const panel = page.getByRole('dialog', { name: 'Get help now' });
  await expect(panel.getByRole('link', { name: 'Text 988' })).toBeVisible();
  await panel.getByRole('button', { name: 'Close' }).click();
  await expect(panel).toBeHidden();
  await chat.log(page).getByRole('button', { name: 'Get help now' }).click();
  await expect(panel).toBeVisible();
});

test('loads older messages without a jump', async ({ page, phone }) => {
  await openChat(page, phone);
  for (let number = 1; number <= 12; number += 1) await botWrites(phone, { text: `Reply number ${number}.` });
  await Promise.all(Array.from({ length: 44 }, (_, index) => botWrites(phone, { text: `Later reply ${index}.` })));
  await page.reload();
  const tenth = chat.message(page, 'Reply number 12.');
  await page.getByRole('button', { name: 'Show older messages' }).scrollIntoViewIfNeeded();
  await tenth.scrollIntoViewIfNeeded();
  await page.getByRole('button', { name: 'Show older messages' }).focus();
  const before = await tenth.boundingBox();
  await page.keyboard.press('Enter');
  await expect(chat.message(page, 'Reply number 1.')).toHaveCount(1);
  await expect.poll(async () => Math.abs(((await tenth.boundingBox())?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(80);
});

test('says that there are new messages when the reader is further up', async ({ page, phone }) => {
  await openChat(page, phone);
  for (let number = 1; number <= 30; number += 1) await botWrites(phone, { text: `Reply number ${number}.` });
  await expect(chat.message(page, 'Reply number 30.')).toBeInViewport();
  await chat.message(page, 'Reply number 1.').first().scrollIntoViewIfNeeded();
  await botWrites(phone, { text: 'The newest reply.' });
  await page.getByRole('button', { name: '1 new message' }).click();
  await expect(chat.message(page, 'The newest reply.')).toBeInViewport();
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`is accessible and fits small and wide screens in ${colorScheme}`, async ({ page, phone }) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 360, height: 740 });
    await openChat(page, phone);
    await send(page, 'A link: https://example.com/a-rather-long-address-that-has-to-wrap-somewhere-in-the-bubble');
    await expect(chat.log(page).getByRole('listitem').filter({ hasText: 'Solace said' })).toHaveCount(1);
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    for (const width of [320, 360, 1440]) {
      await page.setViewportSize({ width, height: 740 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
  });
}
