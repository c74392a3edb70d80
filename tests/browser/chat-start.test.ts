import type { Page } from 'playwright/test';
import type { ChatPage } from '../../worker/contract/chat-schemas.ts';
import { chat, everyKind, long, messageOf, now, openConversation, pageOf } from './support/chat.ts';
import { holdAssets, scriptsHaveRun, watchFirstPaint, watchMoves } from './support/first-paint.ts';
import {
  expectToasts,
  hydrated,
  setVisible,
  settle,
  stopTime,
  storedToken,
} from './support/page.ts';
import { over, type Stub } from './support/stub.ts';
import { expect, stubbed as test } from './support/test.ts';

/** Opens the chat of somebody with a conversation while the scripts are on their way. */
async function openEarly(
  page: Page,
  stub: Stub,
  messages = everyKind,
  more?: Partial<ChatPage>,
): Promise<() => void> {
  await stub.signedIn({ used: 3 });
  stub.respond('getChat', pageOf(messages, more));
  const release = await holdAssets(page);
  await page.goto('/chat', { waitUntil: 'commit' });
  await expect(chat.field(page)).toBeVisible();
  return release;
}

const waiting = (page: Page) => page.getByText('Loading application...');
const started = async (page: Page) => {
  await hydrated(page, 'main form');
  await expect(waiting(page)).toHaveCount(0);
};

test('messages can be read before the scripts of the app have come, and React keeps them', async ({
  page,
  stub,
}) => {
  await stopTime(page, now);
  const release = await openEarly(page, stub);
  const moves = await watchMoves(page);
  await expect(chat.history(page).getByRole('listitem')).toHaveCount(15);
  await expect(chat.log(page).getByRole('listitem')).toHaveCount(0);
  await expect(page.getByText('February 1, 2025')).toBeVisible();
  await expect(waiting(page)).toBeVisible();
  await expect(chat.message(page, 'This one is new')).toBeInViewport();
  // A text is never markup.
  await expect(chat.message(page, 'Hello there, <b>Solace</b>')).toHaveCount(1);
  await expect(page.getByRole('main').locator('b')).toHaveCount(0);
  // The status of the start is replaced, and the count of the week is filled in.
  const elements = await chat.history(page).locator('*').elementHandles();
  release();
  await page.clock.resume();
  await started(page);
  for (const element of elements)
    expect(await element.evaluate((one) => one.isConnected)).toBe(true);
  await expect(page.getByText('3 / 5 messages used this week')).toBeVisible();
  expect(await moves()).toEqual([]);
  expect(stub.calls('getChat')).toHaveLength(1);
  expect(stub.calls('getMe')).toHaveLength(1);
});

test('a draft, its selection and the focus outlast the start', async ({ page, stub }) => {
  const release = await openEarly(page, stub);
  const field = chat.field(page);
  const oneLine = (await field.boundingBox())!.height;
  await field.pressSequentially('One');
  await field.press('Shift+Enter');
  await field.pressSequentially('Two');
  expect((await field.boundingBox())!.height).toBeGreaterThan(oneLine);
  await field.evaluate((element: HTMLTextAreaElement) => element.setSelectionRange(1, 3));
  release();
  await started(page);
  await expect(field).toHaveValue('One\nTwo');
  await expect(field).toBeFocused();
  expect(
    await field.evaluate(({ selectionStart, selectionEnd }: HTMLTextAreaElement) => [
      selectionStart,
      selectionEnd,
    ]),
  ).toEqual([1, 3]);
  await field.press('End');
  await field.pressSequentially(' and three');
  await expect(field).toHaveValue('One and three\nTwo');
});

test('a message that is sent before the app has started is sent afterwards, once', async ({
  page,
  stub,
}) => {
  const release = await openEarly(page, stub);
  const send = stub.openStream('chatStream');
  const respond = stub.hold('sendMessage');
  await chat.field(page).fill('Early');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  expect(stub.calls('sendMessage')).toEqual([]);
  release();
  await expect.poll(() => stub.calls('sendMessage').length).toBe(1);
  expect(stub.calls('sendMessage')).toMatchObject([{ body: { text: 'Early' } }]);
  await expect(chat.field(page)).toHaveValue('');
  expect(new URL(page.url()).search).toBe('');

  // The stream brings the bot's refusal before the response, which does not undo it.
  const { id } = stub.calls('sendMessage')[0]!.body as { id: string };
  const message = messageOf(9, 'Early', { id, state: 'sent' });
  send({ type: 'message', message: { ...message, state: 'failed' } });
  send({
    type: 'message',
    message: messageOf(10, 'A later reply', { author: 'solace' }),
  });
  await expect(chat.message(page, 'A later reply')).toBeVisible();
  stub.respond('sendMessage', { success: true, message });
  respond();
  await expect(chat.message(page, 'Early').getByText('Not delivered')).toBeVisible();
});

const hour = 3_600_000;

test('a reader who has scrolled up stays there', async ({ page, stub }) => {
  const typingUntil = new Date(Date.now() + hour).toISOString();
  const release = await openEarly(page, stub, long, {
    hasMore: true,
    typingUntil,
  });
  const moves = await watchMoves(page);
  await expect(chat.message(page, 'Message number 50.')).toBeInViewport();
  const list = page.getByRole('region', {
    name: 'Messages',
    exact: true,
  });
  await list.evaluate((element) =>
    element.scrollTo({
      top: 200,
      behavior: 'instant',
    }),
  );
  release();
  await started(page);
  await expect(page.getByText('Solace is writing')).toBeAttached();
  expect(await list.evaluate(({ scrollTop }) => scrollTop)).toBe(200);
  expect(await moves()).toEqual([]);
});

test('help is reached before the app has started', async ({ page, stub }) => {
  await openEarly(page, stub);
  await page.getByRole('main').getByRole('button', { name: 'Get help now' }).first().click();
  await page.waitForURL('**/help-now', { waitUntil: 'commit' });
});

test('a button that is pressed before the app has started works afterwards', async ({
  page,
  stub,
}) => {
  const release = await openEarly(page, stub, long, { hasMore: true });
  const older = page.getByRole('button', { name: 'Show older messages' });
  await older.click();
  expect(stub.calls('getChat')).toHaveLength(1);
  stub.respond('getChat', pageOf([messageOf(0, 'The oldest message.')]));
  const topOf = async (text: string) => (await chat.message(page, text).boundingBox())!.y;
  const before = await topOf('Message number 1.');
  release();
  await started(page);
  await expect(chat.message(page, 'The oldest message.')).toHaveCount(1);
  // What is read does not jump.
  await expect
    .poll(async () => Math.abs((await topOf('Message number 1.')) - before))
    .toBeLessThan(80);
  await expect(older).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Messages' })).toBeFocused();
});

test(
  'the page says what it waits for, and shows the messages before the profile',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stub.signedIn({ used: 2 });
    stub.respond('getChat', pageOf(everyKind));
    const releaseProfile = stub.hold('getMe');
    await page.goto('/chat', { waitUntil: 'commit' });
    const movesSinceProfile = await watchMoves(page);
    await expect(chat.message(page, 'This one is new')).toBeInViewport();
    // The app runs, and waits for the profile.
    await scriptsHaveRun(page);
    await expect(waiting(page)).toBeVisible();
    releaseProfile();
    await started(page);
    await expect(page.getByText('2 / 5 messages used this week')).toBeVisible();
    expect(await movesSinceProfile()).toEqual([]);

    const releaseConversation = stub.hold('getChat');
    await page.goto('/chat', { waitUntil: 'commit' });
    const movesSinceConversation = await watchMoves(page);
    await expect(page.getByText('Loading your conversation...')).toBeVisible();
    releaseConversation();
    await expect(chat.message(page, 'This one is new')).toBeInViewport();
    expect(stub.calls('getChat')).toHaveLength(2);
    expect(await movesSinceConversation()).toEqual([]);
  },
);

const older = pageOf(everyKind, {
  consent: {
    version: 'older',
    at: now,
  },
});
const withoutConversation: [name: string, arrange: (stub: Stub) => void, shows: string][] = [
  [
    'without consent',
    (stub) => stub.respond('getChat', pageOf([], { consent: null })),
    'Start the conversation',
  ],
  [
    'with consent to an older notice',
    (stub) => stub.respond('getChat', older),
    'Start the conversation',
  ],
  ['whose conversation fails', (stub) => stub.respond('getChat', {}, 503), 'Try again'],
  ['whose conversation is not JSON', (stub) => stub.respond('getChat', '<html>', 200), 'Try again'],
];

test(
  'somebody without a conversation sees no messages',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stub.signedIn();
    const { sawField } = await watchFirstPaint(page);
    for (const [name, arrange, shows] of withoutConversation) {
      arrange(stub);
      await page.goto('/chat');
      await expect(page.getByRole('button', { name: shows }), name).toBeVisible();
      expect(await sawField(), name).toBe(false);
      await expect(chat.message(page, 'Hello')).toHaveCount(0);
    }
  },
);

test('an ended session leads to the login and shows nothing of the conversation', async ({
  page,
  stub,
}) => {
  await stub.signedIn();
  for (const name of ['getMe', 'getChat'] as const) stub.respond(name, over, 401);
  const { sawField } = await watchFirstPaint(page);
  await page.goto('/chat');
  await page.waitForURL(/\/login(\?|$)/);
  expect(await sawField()).toBe(false);
  await expectToasts(page, ['Session expired. Please log in again.']);
  expect(await storedToken(page)).toBeNull();
  // Now a guest: the frame of the conversation is not shown.
  await page.goto('/chat');
  await page.waitForURL(/\/login(\?|$)/);
  expect(await sawField()).toBe(false);
});

test(
  'a session that ends in another tab during the start takes the messages away',
  { tag: '@full' },
  async ({ page, stub }) => {
    const release = await openEarly(page, stub);
    await page.evaluate(() => localStorage.removeItem('authToken'));
    release();
    await page.waitForURL(/\/login(\?|$)/);
    await expect(page.getByText('This one is new')).toHaveCount(0);
  },
);

test(
  'a page that started with its messages reads them again after a `reset`',
  { tag: '@full' },
  async ({ page, stub }) => {
    const release = await openEarly(page, stub);
    stub.respond(
      'getChat',
      pageOf([...everyKind, messageOf(9, 'Written meanwhile', { author: 'solace' })]),
    );
    stub.openStream('chatStream', [{ type: 'reset' }]);
    release();
    await expect(chat.message(page, 'Written meanwhile')).toBeVisible();
    expect(stub.calls('getChat')).toHaveLength(2);
  },
);

test('after three hours of use the page says again that Solace is an AI', async ({
  page,
  stub,
}) => {
  const notice = 'Solace is an AI, not a person, and not for emergencies.';
  const notices = page.getByText(notice);
  stub.openStream('chatStream');
  await stopTime(page, now);
  await openConversation(page, stub, long);
  await expect(notices).toHaveCount(1);
  await page.clock.fastForward(3 * hour - 60_000);
  // Nobody uses a page behind another tab.
  await setVisible(page, false);
  await page.clock.fastForward(5 * hour);
  await setVisible(page, true);
  await page.clock.fastForward(59_000);
  await settle(page);
  await expect(notices).toHaveCount(1);
  await page.clock.fastForward(1000);
  await expect(chat.log(page).getByText(notice)).toBeInViewport();
  // Once is enough until somebody writes.
  await page.clock.fastForward(3 * hour);
  await setVisible(page, false);
  await setVisible(page, true);
  await page.clock.fastForward(3 * hour);
  await settle(page);
  await expect(notices).toHaveCount(2);
  const at = new Date(Date.parse(now) + 14 * hour).toISOString();
  // A stream without a beat is opened anew, and brings it.
  stub.openStream('chatStream', [
    { type: 'message', message: messageOf(60, 'Back again', { at }) },
  ]);
  await page.clock.fastForward(60_000);
  await expect(chat.message(page, 'Back again')).toBeVisible();
  await expect(notices).toHaveCount(3);
});
