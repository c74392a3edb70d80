import {
  chat,
  openChat,
  send,
  acceptNotice,
  chooseOption,
  long,
  messageOf,
  openConversation,
  pageOf,
  visitAccount,
} from './support/chat.ts';
import {
  expectToasts,
  expectToBeAccessible,
  expectToFit,
  follow,
  hydrated,
  installClock,
  settle,
  violations,
} from './support/page.ts';
import { expect, test, signInByExternalToken, stubbed } from './support/test.ts';
import type { Page } from 'playwright/test';
import type { ChatStreamEvent } from '../../worker/contract/chat-schemas.ts';
import type { Stub } from './support/stub.ts';

test('carries a message and its reply, also after a reload, and keeps nothing else', async ({
  page,
  phone,
}) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await openChat(page, phone);
  await expect(
    page.getByText('Solace is an AI, not a person, and not for emergencies.'),
  ).toBeVisible();
  await send(
    page,
    'Hello *there*, <b>Solace</b>: https://example.com/a-long-address-that-has-to-wrap-in-the-bubble',
  );
  const own = chat.message(page, 'Hello there, <b>Solace</b>');
  await expect(own.locator('strong')).toHaveText('there');
  await expect(chat.field(page)).toBeFocused();
  await expect(chat.field(page)).toHaveValue('');
  await expect(own.getByText('Delivered')).toBeVisible();
  const reply = chat.log(page).getByRole('listitem').filter({ hasText: 'Solace said' });
  await expect(reply).toHaveCount(1);
  const text = await reply.innerText();
  await expect(page.getByText('2 / 5 messages used this week')).toBeVisible();
  await expectToBeAccessible(page);
  await expectToFit(page, 320, 360, 1440);
  await page.getByRole('button', { name: /Switch to (?:dark|light) colours/ }).click();
  await page.reload();
  await expect(
    chat.history(page).getByRole('listitem').filter({ hasText: 'Hello there' }),
  ).toHaveCount(1);
  expect(await chat.history(page).innerText()).toContain(text.split('\n')[1]);
  await expect(chat.log(page).getByRole('listitem')).toHaveCount(0);
  const kept = await page.evaluate(async () => ({
    local: Object.keys(localStorage).toSorted(),
    tab: Object.keys(sessionStorage),
    databases: await indexedDB.databases(),
  }));
  expect(kept).toEqual({
    local: ['authToken', 'theme'],
    tab: ['tsr-scroll-restoration-v1_3'],
    databases: [],
  });
  expect(await page.context().cookies()).toEqual([]);
});

test(
  'sends again what was offline or refused, and shows what was missed',
  { tag: '@full' },
  async ({ page, phone, context }) => {
    await openChat(page, phone);
    await context.setOffline(true);
    await send(page, 'Can you hear me?');
    const own = chat.message(page, 'Can you hear me?');
    await expect(own.getByText('Not sent')).toBeVisible();
    await phone.botWrites('I wrote while you were away.');
    await phone.botMode('refuse');
    await context.setOffline(false);
    await expect(chat.message(page, 'I wrote while you were away.')).toHaveCount(1);
    await own.getByRole('button', { name: 'Send again' }).click();
    await expect(own.getByText('Not delivered')).toBeVisible();
    await phone.botMode('answer');
    await own.getByRole('button', { name: 'Send again' }).click();
    await expect(own.getByText('Delivered')).toBeVisible();
    await expect(own).toHaveCount(1);
  },
);

test(
  'keeps a text that the allowance refuses, and leads to the plans',
  { tag: '@full' },
  async ({ page, phone, expectedErrors }) => {
    expectedErrors.push(/status of 403/);
    for (let message = 0; message < 4; message += 1) await phone.write('More');
    await openChat(page, phone);
    await expect(page.getByText('5 / 5 messages used this week')).toBeVisible();
    // The way out shows before anything is refused.
    await expect(
      page.getByRole('main').getByRole('link', { name: 'See the plans' }),
    ).toHaveAttribute('href', '/plans');
    await send(page, 'One too many');
    await expect(page.getByRole('alert')).toContainText("You have used this week's messages.");
    await expect(chat.field(page)).toHaveValue('One too many');
    await expect(
      page.getByRole('alert').getByRole('link', { name: 'See the plans' }),
    ).toHaveAttribute('href', '/plans');
  },
);

test('the field counts, starts new lines, keeps a draft, and sends nothing half composed', async ({
  page,
  phone,
}) => {
  await openChat(page, phone);
  const field = chat.field(page);
  await field.fill('a'.repeat(3199));
  await expect(page.getByText(/characters? left/)).toHaveCount(0);
  await field.fill('a'.repeat(3200));
  await expect(page.getByText('800 characters left')).toBeVisible();
  await field.fill('a'.repeat(3990));
  await expect(page.getByText('10 characters left')).toBeVisible();
  await field.fill('a'.repeat(4001));
  await expect(page.getByText('1 character too many')).toBeVisible();
  await field.press('Enter');
  await expect(page.getByRole('alert')).toHaveText('Messages can have up to 4,000 characters.');
  await expect(field).toHaveValue('a'.repeat(4001));
  await field.fill('One');
  await field.press('Shift+Enter');
  await field.pressSequentially('Two');
  await expect(field).toHaveValue('One\nTwo');
  // Enter ends a composition; Safari says so by its code alone (threema-web 777, element-web 23254).
  await field.evaluate((element) => {
    for (const composing of [{ isComposing: true }, { keyCode: 229 }])
      element.dispatchEvent(
        new KeyboardEvent('keydown', {
          key: 'Enter',
          bubbles: true,
          cancelable: true,
          ...composing,
        }),
      );
  });
  await expect(field).toHaveValue('One\nTwo');
  await visitAccount(page);
  await expect(field).toHaveValue('One\nTwo');
  await field.press('Enter');
  await expect(chat.message(page, 'Two').getByText('Delivered')).toBeVisible();
  await expect(chat.log(page).getByRole('listitem').filter({ hasText: 'You said' })).toHaveCount(1);

  // The options close on Escape and on a press outside.
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
});

test('a page takes no focus from a field that somebody has reached before it', async ({
  page,
  phone,
}) => {
  await openChat(page, phone);
  await follow(page.getByRole('link', { name: 'My Account' }), '**/account');
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  await page.evaluate(() => {
    const focusOnce = new MutationObserver(() => {
      const field = document.querySelector('textarea');
      if (field) focusOnce.disconnect();
      field?.focus();
    });
    focusOnce.observe(document.body, { childList: true, subtree: true });
  });
  await page.goBack();
  await settle(page);
  await expect(chat.field(page)).toBeFocused();
});

test(
  'two tabs show the same conversation, also after it was cleared in one',
  { tag: '@full' },
  async ({ page, phone, context }) => {
    await openChat(page, phone);
    const other = await context.newPage();
    await other.goto('/chat');
    await expect(chat.field(other)).toBeVisible();
    await send(page, 'From the first tab');
    await expect(chat.message(other, 'From the first tab')).toHaveCount(1);
    await send(other, 'From the second tab');
    await expect(chat.message(page, 'From the second tab')).toHaveCount(1);
    // A reply in flight is refused.
    for (const text of ['From the first tab', 'From the second tab'])
      await expect(chat.message(page, text).getByText('Delivered')).toBeVisible();
    await chooseOption(page, 'Clear conversation');
    for (const tab of [page, other])
      await expect(chat.message(tab, 'From the first tab')).toHaveCount(0);
    await page.reload();
    await expect(page.getByText('Write the first message. Solace answers here.')).toBeVisible();
    await send(other, 'A new beginning');
    await expect(chat.message(page, 'A new beginning')).toHaveCount(1);
  },
);

test('opens the help panel with a reply that is marked as a crisis, once', async ({
  page,
  phone,
}) => {
  await openChat(page, phone);
  await send(page, 'This is a crisis');
  const panel = page.getByRole('dialog', { name: 'Get help now' });
  await expect(panel.getByRole('link', { name: 'Text 988' })).toBeVisible();
  await expect(panel).toBeFocused();
  await panel.getByRole('button', { name: 'Close' }).click();
  await expect(panel).toBeHidden();
  const opens = chat.log(page).getByRole('button', { name: 'Get help now' });
  for (const leave of [() => page.keyboard.press('Escape'), () => page.mouse.click(2, 300)]) {
    await opens.click();
    await expect(panel).toBeVisible();
    await leave();
    await expect(panel).toBeHidden();
    await expect(opens).toBeFocused();
  }
  await visitAccount(page);
  await expect(opens).toBeVisible();
  await settle(page);
  await expect(panel).toHaveCount(0);
});

test('asks for consent first, with nothing ticked, and again after its withdrawal', async ({
  page,
  phone,
}) => {
  await signInByExternalToken(page, phone, '/chat');
  await expect(page.getByRole('checkbox')).toHaveCount(2);
  for (const box of await page.getByRole('checkbox').all()) await expect(box).not.toBeChecked();
  await chat.accept(page).click();
  await expect(page.getByRole('alert')).toHaveText('Please tick both boxes to start.');
  await acceptNotice(page);
  await page.reload();
  await send(page, 'Please forget this');
  await expect(chat.message(page, 'Please forget this').getByText('Delivered')).toBeVisible();
  await chooseOption(page, 'Withdraw consent');
  await expect(chat.accept(page)).toBeVisible();
  await expect(chat.message(page, 'Please forget this')).toHaveCount(0);
  await expect(page.getByLabel('Options of the conversation')).toHaveCount(0);
  await acceptNotice(page);
  await expect(page.getByText('Write the first message. Solace answers here.')).toBeVisible();
});

stubbed(
  'a refused message stays, unsent, if another text is in the field',
  async ({ page, stub }) => {
    await openConversation(page, stub, long);
    const limited = { success: false, code: 'rate_limited' };
    stub.respond('sendMessage', limited, 429, { 'retry-after': '90' });
    const release = stub.hold('sendMessage');
    await send(page, 'The first text');
    await chat.field(page).fill('The second text');
    release();
    const alert = page.getByRole('alert');
    await expect(alert).toContainText('No more messages can be taken');
    await expect(alert).toContainText(/You can try again after .*\d:\d\d [AP]M/);
    await expect(chat.field(page)).toHaveValue('The second text');
    const first = chat.message(page, 'The first text');
    await expect(first.getByText('Not sent')).toBeVisible();
    await chat.field(page).fill('');
    await first.getByRole('button', { name: 'Send again' }).click();
    await expect(chat.field(page)).toHaveValue('The first text');
    await expect(first).toHaveCount(0);
  },
);

stubbed(
  'clearing removes the unsent messages too, and what was written',
  async ({ page, stub, context }) => {
    await openConversation(page, stub, long);
    await context.setOffline(true);
    await send(page, 'A secret');
    await expect(chat.message(page, 'A secret').getByText('Not sent')).toBeVisible();
    await context.setOffline(false);
    await chat.field(page).fill('Not finished');
    stub.respond('clearChat', { success: true });
    stub.respond('getChat', pageOf([]));
    await chooseOption(page, 'Clear conversation');
    await expectToasts(page, ['Conversation cleared']);
    await expect(chat.message(page, 'A secret')).toHaveCount(0);
    await expect(chat.field(page)).toHaveValue('');
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('Not finished');
  },
);

stubbed(
  'a draft goes when the conversation is cleared in another tab, and not by an older clearing',
  async ({ page, stub }) => {
    const push = stub.openStream('chatStream');
    await openConversation(page, stub, long, {});
    await chat.field(page).fill('Half a thought');
    push({ type: 'cleared' });
    await expect(chat.message(page, 'Message number 50.')).toHaveCount(0);
    await expect(chat.field(page)).toHaveValue('');
    await page.reload();
    await hydrated(page, 'main form');
    await expect(chat.field(page)).toHaveValue('');

    stub.respond('getChat', pageOf([messageOf(60, 'A new beginning')], { revision: 300 }));
    await page.reload();
    await hydrated(page, 'main form');
    await chat.field(page).fill('Another thought');
    push({ type: 'cleared' });
    push(typing());
    await expect(page.getByRole('status').filter({ hasText: 'Solace is writing' })).toBeVisible();
    await expect(chat.field(page)).toHaveValue('Another thought');
  },
);

stubbed('a late response brings nothing back of a cleared conversation', async ({ page, stub }) => {
  const message = messageOf(51, 'A secret', {
    id: 'late',
    state: 'sent',
  });
  const push = stub.openStream('chatStream');
  await openConversation(page, stub, long, {}, { hasMore: true });
  const releaseOlder = stub.hold('getChat');
  const releaseSent = stub.hold('sendMessage');
  await page.getByRole('button', { name: 'Show older messages' }).click();
  await send(page, 'A secret');
  await expect.poll(() => stub.calls('sendMessage').length).toBe(1);
  const { id } = stub.calls('sendMessage')[0]!.body as { id: string };
  push({ type: 'message', message: { ...message, id } });
  await expect(chat.message(page, 'A secret').getByText('Sent', { exact: true })).toBeVisible();
  push({ type: 'cleared' });
  await expect(chat.message(page, 'Message number 50.')).toHaveCount(0);
  stub.respond('getChat', pageOf([messageOf(0, 'The oldest message.')]));
  stub.respond('sendMessage', {
    success: true,
    message: { ...message, id },
  });
  releaseOlder();
  releaseSent();
  await settle(page);
  await expect(page.getByText('Write the first message. Solace answers here.')).toBeVisible();
});

stubbed(
  'after a `reset` nothing is missed that came while the page was read',
  async ({ page, stub }) => {
    const push = await openLong(page, stub);
    const release = stub.hold('getChat');
    push({ type: 'reset' });
    await expect.poll(() => stub.calls('getChat').length).toBe(2);
    push({
      type: 'message',
      message: messageOf(70, 'Written meanwhile', { author: 'solace' }),
    });
    await expect(chat.message(page, 'Written meanwhile')).toBeVisible();
    stub.respond(
      'getChat',
      pageOf([...long, messageOf(60, 'Missed before', { author: 'solace' })]),
    );
    release();
    await expect(chat.message(page, 'Missed before')).toBeVisible();
    await expect(chat.message(page, 'Written meanwhile')).toBeVisible();
  },
);

stubbed(
  'a page that cannot be read after a `reset` is read later',
  { tag: '@full' },
  async ({ page, stub }) => {
    await installClock(page);
    const push = await openLong(page, stub);
    stub.respond('getChat', {}, 503);
    push({ type: 'reset' });
    await expect.poll(() => stub.calls('getChat').length).toBeGreaterThanOrEqual(3);
    push({
      type: 'message',
      message: messageOf(70, 'Written meanwhile', { author: 'solace' }),
    });
    await expect(chat.message(page, 'Written meanwhile')).toBeVisible();
    await visitAccount(page);
    await expect.poll(() => stub.calls('chatStream').length).toBe(2);
    expect(stub.calls('chatStream')[1]!.search.get('after')).toBe('100');
    const attempts = stub.calls('getChat').length;
    push({ type: 'reset' });
    await expect.poll(() => stub.calls('getChat').length).toBeGreaterThan(attempts);
    stub.respond(
      'getChat',
      pageOf([...long, messageOf(60, 'Missed before', { author: 'solace' })], { revision: 300 }),
    );
    const isShownLater = () =>
      page.clock.fastForward(5000).then(() => chat.message(page, 'Missed before').isVisible());
    await expect.poll(isShownLater).toBe(true);
  },
);

stubbed('a draft ends with its session', { tag: '@full' }, async ({ page, stub }) => {
  await openConversation(page, stub, long);
  await chat.field(page).fill('Not for the next person');
  await page.getByRole('link', { name: 'My Account' }).click();
  await page.getByRole('button', { name: 'Logout' }).click();
  await page.waitForURL('**/login');
  await page
    .getByRole('contentinfo')
    .getByRole('link', {
      name: 'Español',
      exact: true,
    })
    .click();
  await page.waitForURL('**/es/login');
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('next person');
});

const typing = (text?: string): ChatStreamEvent => ({
  type: 'typing',
  until: new Date(Date.now() + 3_600_000).toISOString(),
  ...(text !== undefined && { text }),
});
const reply = (text: string) => ({
  type: 'message' as const,
  message: messageOf(51, text, {
    author: 'solace',
    at: new Date().toISOString(),
  }),
});

stubbed(
  'a missing part takes neither the conversation nor the draft',
  { tag: '@full' },
  async ({ page, stub, expectedErrors }) => {
    expectedErrors.push(/status of 404/);
    const missing = new Set<string>();
    const { promise: drafted, resolve: release } = Promise.withResolvers<void>();
    for (const part of ['notice-offer', 'voice-message', 'help-dialog'])
      await page.route(`**/${part}.js`, async (route) => {
        await drafted;
        await route.fulfill({ status: 404 });
        missing.add(part);
      });
    const push = await openLong(page, stub);
    await chat.field(page).fill('Not lost');
    release();
    const { message } = reply('A late reply');
    push({
      type: 'message',
      message: {
        ...message,
        voice: {
          seconds: 3,
          type: 'audio/ogg',
          bytes: 9,
        },
      },
    });
    await expect.poll(() => missing.size).toBe(3);
    await settle(page);
    await page.getByRole('main').getByRole('button', { name: 'Get help now' }).first().click();
    const help = page.getByRole('alert').getByRole('link', { name: 'Get help now' });
    await expect(help).toHaveAttribute('href', '/help-now');
    await expect(chat.message(page, 'A late reply')).toBeVisible();
    await expect(chat.field(page)).toHaveValue('Not lost');
  },
);

const messages = (page: Page) =>
  page.getByRole('region', {
    name: 'Messages',
    exact: true,
  });
const bubble = (page: Page) => messages(page).locator('[data-slot=typed]');
const scrollTop = (page: Page) => messages(page).evaluate((list) => list.scrollTop);
const sentence = 'This is one more sentence of a long reply. ';

/** Opens a long conversation; the returned function sends an event on its stream. */
async function openLong(page: Page, stub: Stub, ...events: ChatStreamEvent[]) {
  const send = stub.openStream('chatStream', events);
  await openConversation(page, stub, long);
  return send;
}

stubbed(
  'a reply is shown from its middle on, grows, and is announced once at its end',
  async ({ page, stub }) => {
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
    await chat.field(page).fill('Half a sen');
    send(reply('Hello *to* you, whatever was lost'));
    await expect(
      chat.log(page).getByRole('listitem').filter({ hasText: 'whatever was lost' }),
    ).toHaveCount(1);
    await expect(bubble(page)).toHaveCount(0);
    await expect(page.getByText('Solace is writing')).toHaveCount(0);
    await expect(chat.field(page)).toHaveValue('Half a sen');
  },
);

stubbed('a growing reply never moves what somebody further up reads', async ({ page, stub }) => {
  const send = await openLong(page, stub);
  await expect(chat.message(page, 'Message number 50.')).toBeInViewport();
  await messages(page).evaluate((list) =>
    list.scrollTo({
      top: 300,
      behavior: 'instant',
    }),
  );
  for (const count of [1, 20, 60]) {
    send(typing(sentence.repeat(count)));
    await expect(bubble(page)).toContainText(sentence.repeat(count).trim());
    expect(await scrollTop(page)).toBe(300);
  }
  send(reply(sentence.repeat(60)));
  await expect(page.getByRole('button', { name: '1 new message' })).toBeVisible();
  expect(await scrollTop(page)).toBe(300);
  await page.getByRole('button', { name: '1 new message' }).click();
  await expect(messages(page)).toBeFocused();
  await expect(chat.log(page).getByRole('listitem').last()).toBeInViewport();
});

stubbed(
  'the list follows a growing reply until its first line is at the top, and stays',
  async ({ page, stub }) => {
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
  },
);

stubbed(
  'the options of the conversation fit with text of twice the size',
  { tag: '@full' },
  async ({ page, stub }) => {
    await page.setViewportSize({ width: 390, height: 700 });
    await openConversation(page, stub, [messageOf(1, 'Hello')]);
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
    await page.getByLabel('Options of the conversation').click();
    const option = page.getByRole('button', { name: 'Print the conversation' });
    const { x, width } = (await option.boundingBox())!;
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(390);
  },
);
