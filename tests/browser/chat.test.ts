import type { ChatPage } from '../../worker/contract/chat-schemas.ts';
import { chat, openChat, send, acceptNotice, chooseOption } from './support/chat.ts';
import { expectToBeAccessible, expectToFit, storedToken } from './support/page.ts';
import { expect, test, signInByExternalToken } from './support/test.ts';

test('carries a message to the companion and its reply back, and shows both after a reload', async ({
  page,
  phone,
}) => {
  await openChat(page, phone);
  await expect(page.getByText('Solace is an AI, not a person, and not for emergencies.')).toBeVisible();
  await send(page, 'Hello *there*, <b>Solace</b>');
  const own = chat.message(page, 'Hello there, <b>Solace</b>');
  await expect(own.locator('strong')).toHaveText('there');
  await expect(chat.field(page)).toBeFocused();
  await expect(chat.field(page)).toHaveValue('');
  await expect(own.getByText('Delivered')).toBeVisible();
  const reply = chat.log(page).getByRole('listitem').filter({ hasText: 'Solace said' });
  await expect(reply).toHaveCount(1);
  const text = await reply.innerText();
  await expect(page.getByText('2 / 5 messages used this week')).toBeVisible();
  await page.reload();
  await expect(chat.history(page).getByRole('listitem').filter({ hasText: 'Hello there' })).toHaveCount(1);
  expect(await chat.history(page).innerText()).toContain(text.split('\n')[1]);
  await expect(chat.log(page).getByRole('listitem')).toHaveCount(0);
});

test('leaves the session and the choice of colours in the browser, and nothing of what was sent', async ({
  page,
  phone,
}) => {
  await openChat(page, phone);
  await send(page, 'Only between us');
  await expect(chat.message(page, 'Only between us').getByText('Delivered')).toBeVisible();
  await page.getByRole('button', { name: /Switch to (?:dark|light) colours/ }).click();
  await page.reload();
  await expect(chat.history(page).getByText('Only between us')).toBeVisible();
  const kept = await page.evaluate(async () => ({
    local: Object.keys(localStorage).toSorted(),
    tab: Object.keys(sessionStorage),
    databases: await indexedDB.databases(),
    cookies: document.cookie,
  }));
  expect(kept).toEqual({
    local: ['authToken', 'theme'],
    tab: ['tsr-scroll-restoration-v1_3'],
    databases: [],
    cookies: '',
  });
  expect(await page.context().cookies()).toEqual([]);
});

test('keeps an unsent message while offline, and shows what was missed', async ({
  page,
  phone,
  context,
  expectedErrors,
}) => {
  expectedErrors.push(/ERR_INTERNET_DISCONNECTED|ERR_NETWORK/);
  await openChat(page, phone);
  await context.setOffline(true);
  await send(page, 'Can you hear me?');
  const own = chat.message(page, 'Can you hear me?');
  await expect(own.getByText('Not sent')).toBeVisible();
  await phone.botWrites('I wrote while you were away.');
  await context.setOffline(false);
  await expect(chat.message(page, 'I wrote while you were away.')).toHaveCount(1);
  await own.getByRole('button', { name: 'Send again' }).click();
  await expect(own.getByText('Delivered')).toBeVisible();
  await expect(own).toHaveCount(1);
});

test('keeps the text of a message that the allowance refuses, and leads to the plans', async ({
  page,
  phone,
  expectedErrors,
}) => {
  expectedErrors.push(/status of 403/);
  for (let message = 0; message < 4; message += 1) await phone.write('More');
  await openChat(page, phone);
  await expect(page.getByText('5 / 5 messages used this week')).toBeVisible();
  await send(page, 'One too many');
  await expect(page.getByRole('alert')).toContainText("You have used this week's messages.");
  await expect(chat.field(page)).toHaveValue('One too many');
  await expect(page.getByRole('alert').getByRole('link', { name: 'See the plans' })).toHaveAttribute('href', '/plans');
});

test('counts the characters near the limit and refuses a longer text with a sentence', async ({ page, phone }) => {
  await openChat(page, phone);
  await chat.field(page).fill('a'.repeat(3990));
  await expect(page.getByText('10 characters left')).toBeVisible();
  await chat.field(page).fill('a'.repeat(4001));
  await expect(page.getByText('1 character too many')).toBeVisible();
  await chat.field(page).press('Enter');
  await expect(page.getByRole('alert')).toHaveText('Messages can have up to 4,000 characters.');
  await expect(chat.field(page)).toHaveValue('a'.repeat(4001));
});

test('starts a new line with Shift and Enter, and never sends while an input method composes', async ({
  page,
  phone,
}) => {
  await openChat(page, phone);
  const field = chat.field(page);
  await field.fill('One');
  await field.press('Shift+Enter');
  await field.pressSequentially('Two');
  await expect(field).toHaveValue('One\nTwo');
  await field.evaluate((element) => {
    const composing = { key: 'Enter', bubbles: true, cancelable: true, isComposing: true, keyCode: 229 };
    element.dispatchEvent(new KeyboardEvent('keydown', composing));
  });
  await expect(field).toHaveValue('One\nTwo');
  await field.press('Enter');
  await expect(chat.message(page, 'Two').getByText('Delivered')).toBeVisible();
  await expect(chat.log(page).getByRole('listitem').filter({ hasText: 'You said' })).toHaveCount(1);
});

test('keeps the draft while the person visits another page', async ({ page, phone }) => {
  await openChat(page, phone);
  await chat.field(page).fill('Not finished yet');
  await page.getByRole('link', { name: 'My Account' }).click();
  await page.waitForURL('**/account');
  await page.goBack();
  await expect(chat.field(page)).toHaveValue('Not finished yet');
});

test('a message that the bot refuses fails and can be sent again under the same id', async ({ page, phone }) => {
  await openChat(page, phone);
  await phone.botMode('refuse');
  await send(page, 'Take this');
  const own = chat.message(page, 'Take this');
  await expect(own.getByText('Not delivered')).toBeVisible();
  await phone.botMode('answer');
  await own.getByRole('button', { name: 'Send again' }).click();
  await expect(own.getByText('Delivered')).toBeVisible();
  await expect(own).toHaveCount(1);
});

test('a refusal that the stream brings before the response is shown', async ({ page, phone }) => {
  await openChat(page, phone);
  await phone.botMode('refuse');
  const token = await storedToken(page);
  const stateOf = async (text: string) => {
    const response = await page.request.get('/api/user/chat', { headers: { Authorization: `Bearer ${token}` } });
    return ((await response.json()) as ChatPage).messages.find((message) => message.text === text)?.state;
  };
  await page.route('**/chat/messages', async (route) => {
    const response = await route.fetch();
    await expect.poll(() => stateOf('Take this')).toBe('failed');
    // The stream brings it after the refusal.
    await phone.botWrites('A later reply');
    await expect(chat.message(page, 'A later reply')).toBeVisible();
    await route.fulfill({ response });
  });
  await send(page, 'Take this');
  await expect(chat.message(page, 'Take this').getByText('Not delivered')).toBeVisible();
});

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
  for (let number = 1; number <= 12; number += 1) await phone.botWrites(`Reply number ${number}.`);
  await Promise.all(Array.from({ length: 44 }, (_, index) => phone.botWrites(`Later reply ${index}.`)));
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
  for (let number = 1; number <= 30; number += 1) await phone.botWrites(`Reply number ${number}.`);
  await expect(chat.message(page, 'Reply number 30.')).toBeInViewport();
  await chat.message(page, 'Reply number 1.').first().scrollIntoViewIfNeeded();
  await phone.botWrites('The newest reply.');
  await page.getByRole('button', { name: '1 new message' }).click();
  await expect(chat.message(page, 'The newest reply.')).toBeInViewport();
});

test('is accessible in light and dark, and fits small and wide screens', async ({ page, phone }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await openChat(page, phone);
  await send(page, 'A link: https://example.com/a-rather-long-address-that-has-to-wrap-somewhere-in-the-bubble');
  await expect(chat.log(page).getByRole('listitem').filter({ hasText: 'Solace said' })).toHaveCount(1);
  await expectToBeAccessible(page);
  await expectToFit(page, 320, 360, 1440);
});

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
