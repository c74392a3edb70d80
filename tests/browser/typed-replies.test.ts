import type { Page } from 'playwright/test';
import type { ChatStreamEvent } from '../../worker/contract/chat-schemas.ts';
import { chat, long, messageOf, openConversation } from './support/chat.ts';
import { violations } from './support/page.ts';
import type { Stub } from './support/stub.ts';
import { expect, stubbed as test } from './support/test.ts';

const typing = (text?: string): ChatStreamEvent => ({
  type: 'typing',
  until: new Date(Date.now() + 60_000).toISOString(),
  ...(text !== undefined && { text }),
});
const reply = (text: string): ChatStreamEvent => ({
  type: 'message',
  message: messageOf(51, text, { author: 'solace', at: new Date().toISOString() }),
});

const messages = (page: Page) => page.getByRole('region', { name: 'Messages', exact: true });
const bubble = (page: Page) => messages(page).locator('[data-slot=typed]');
const scrollTop = (page: Page) => messages(page).evaluate((list) => list.scrollTop);
const sentence = 'This is one more sentence of a long reply. ';

/** Opens a long conversation; the returned function sends an event on its stream. */
async function openLong(page: Page, stub: Stub, ...events: ChatStreamEvent[]) {
  const send = stub.openStream('chatStream', events);
  await openConversation(page, stub, long);
  return send;
}

test('a reply is shown from its middle on, grows, and is announced once at its end', async ({ page, stub }) => {
  const send = await openLong(page, stub, typing('Half of a'));
  await expect(bubble(page)).toContainText('Half of a');
  send(typing());
  await expect(page.getByRole('status').filter({ hasText: 'Solace is writing' })).toBeVisible();
  await expect(bubble(page)).toHaveCount(0);
  for (const text of ['Hello', 'Hello *to*', 'Hello *to* you']) {
    send(typing(text));
    await expect(bubble(page)).toContainText(text.replaceAll('*', ''));
  }
  await expect(chat.log(page).getByText('Hello')).toHaveCount(0);
  expect(await violations(page)).toEqual([]);
  send(reply('Hello *to* you, whatever was lost'));
  await expect(chat.log(page).getByRole('listitem').filter({ hasText: 'whatever was lost' })).toHaveCount(1);
  await expect(bubble(page)).toHaveCount(0);
  await expect(page.getByText('Solace is writing')).toHaveCount(0);
});

test('a growing reply never moves what somebody further up reads', async ({ page, stub }) => {
  const send = await openLong(page, stub);
  await expect(chat.message(page, 'Message number 50.')).toBeInViewport();
  await messages(page).evaluate((list) => list.scrollTo({ top: 300, behavior: 'instant' }));
  for (const count of [1, 20, 60]) {
    send(typing(sentence.repeat(count)));
    await expect(bubble(page)).toContainText(sentence.repeat(count).trim());
    expect(await scrollTop(page)).toBe(300);
  }
  send(reply(sentence.repeat(60)));
  await expect(page.getByRole('button', { name: '1 new message' })).toBeVisible();
  expect(await scrollTop(page)).toBe(300);
  await page.getByRole('button', { name: '1 new message' }).click();
  await expect(chat.log(page).getByRole('listitem').last()).toBeInViewport();
});

test('the list follows a growing reply until its first line is at the top, and stays there', async ({ page, stub }) => {
  await page.setViewportSize({ width: 360, height: 640 });
  const send = await openLong(page, stub);
  await expect(chat.message(page, 'Message number 50.')).toBeInViewport();
  send(typing(sentence.repeat(2)));
  await expect(bubble(page)).toBeInViewport({ ratio: 1 });
  send(typing(sentence.repeat(40)));
  await expect(bubble(page)).toContainText(sentence.repeat(40).trim());
  const top = async () => {
    const [list, inside] = [await messages(page).boundingBox(), await bubble(page).boundingBox()];
    return Math.round(inside!.y - list!.y);
  };
  await expect.poll(top).toBe(16);
  const before = await scrollTop(page);
  send(typing(sentence.repeat(60)));
  await expect(bubble(page)).toContainText(sentence.repeat(60).trim());
  expect(await scrollTop(page)).toBe(before);
  send(reply(sentence.repeat(60)));
  await expect(bubble(page)).toHaveCount(0);
  expect(await scrollTop(page)).toBeCloseTo(before, 0);
  await expect(page.getByRole('button', { name: '1 new message' })).toHaveCount(0);
});
