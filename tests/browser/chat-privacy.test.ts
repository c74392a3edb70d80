import { acceptNotice, chat, chooseOption, openChat, send } from './support/chat.ts';
import { expect, signInByExternalToken, test } from './support/test.ts';

test('asks for consent before the first message, with nothing ticked', async ({ page, phone }) => {
  await signInByExternalToken(page, phone);
  await page.goto('/chat');
  await expect(page.getByRole('checkbox')).toHaveCount(2);
  for (const box of await page.getByRole('checkbox').all()) await expect(box).not.toBeChecked();
  await chat.accept(page).click();
  await expect(page.getByRole('alert')).toHaveText('Please tick both boxes to start.');
  await page.getByRole('checkbox').first().check();
  await page.getByRole('checkbox').last().check();
  await chat.accept(page).click();
  await expect(chat.field(page)).toBeVisible();
  await page.reload();
  await expect(chat.field(page)).toBeVisible();
});

test('closes the options on Escape, on a press outside and when the focus leaves them', async ({ page, phone }) => {
  await openChat(page, phone);
  const options = page.getByLabel('Options of the conversation');
  const clear = page.getByRole('button', { name: 'Clear conversation' });
  await options.click();
  await expect(clear).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(clear).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(clear).toBeHidden();
  await expect(options).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(clear).toBeVisible();
  await page.getByText('Solace is an AI, not a person, and not for emergencies.').click();
  await expect(clear).toBeHidden();
  await options.click();
  await chat.field(page).focus();
  await expect(clear).toBeHidden();
  await expect(chat.field(page)).toBeFocused();
});

test('clears the conversation after a confirmation', async ({ page, phone }) => {
  await openChat(page, phone);
  await send(page, 'Please forget this');
  // A reply in flight is refused.
  await expect(chat.message(page, 'Please forget this').getByText('Delivered')).toBeVisible();
  await chooseOption(page, 'Clear conversation');
  await expect(chat.message(page, 'Please forget this')).toHaveCount(0);
  await page.reload();
  await expect(page.getByText('Write the first message. Solace answers here.')).toBeVisible();
});

test('a conversation that is cleared in one tab is empty in the other', async ({ page, phone, context }) => {
  await openChat(page, phone);
  const other = await context.newPage();
  await other.goto('/chat');
  await send(page, 'Please forget this');
  await expect(chat.message(other, 'Please forget this')).toHaveCount(1);
  await chooseOption(page, 'Clear conversation');
  await expect(chat.message(other, 'Please forget this')).toHaveCount(0);
  await send(other, 'A new beginning');
  await expect(chat.message(page, 'A new beginning')).toHaveCount(1);
});

test('a withdrawn consent empties the conversation and is asked for again', async ({ page, phone }) => {
  await openChat(page, phone);
  await send(page, 'Please forget this');
  await expect(chat.message(page, 'Please forget this').getByText('Delivered')).toBeVisible();
  await chooseOption(page, 'Withdraw consent');
  await expect(chat.accept(page)).toBeVisible();
  await expect(chat.message(page, 'Please forget this')).toHaveCount(0);
  await expect(page.getByLabel('Options of the conversation')).toHaveCount(0);
  await acceptNotice(page);
  await expect(page.getByText('Write the first message. Solace answers here.')).toBeVisible();
});

test('the same number returns to an empty page after its account was deleted', async ({ page, phone }) => {
  await openChat(page, phone);
  await send(page, 'Nobody should read this again');
  await expect(chat.log(page).getByRole('listitem').filter({ hasText: 'Solace said' })).toHaveCount(1);
  await page.goto('/account');
  await page.getByRole('button', { name: 'Delete Account' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete Account' }).click();
  await page.waitForURL('**/login');
  await page.goto('/');
  await openChat(page, phone);
  await expect(page.getByText('Write the first message. Solace answers here.')).toBeVisible();
  await expect(chat.message(page, 'Nobody should read this again')).toHaveCount(0);
  await send(page, 'Hello again');
  await expect(chat.message(page, 'Hello again').getByText('Delivered')).toBeVisible();
  // The free week goes on with the count that the deleted account left.
  await expect(page.getByText('4 / 5 messages used this week')).toBeVisible();
});
