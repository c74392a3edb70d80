import type { Page } from 'playwright/test';
import { streamReplaced } from '../../worker/contract/usage-stream.ts';
import { chat, messageOf, openConversation } from './support/chat.ts';
import { follow, openAccount, setVisible, settle, stopTime } from './support/page.ts';
import { profileOf } from './support/stub.ts';
import { expect, stubbed as test } from './support/test.ts';

const used = (page: Page, text: string) =>
  page
    .getByRole('region', {
      name: 'Usage',
      exact: true,
    })
    .getByText(text, { exact: true });
const sign = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text });
const basic = {
  tier: 'basic',
  used: 3,
  renewalDate: '2025-01-05T09:00:00.000Z',
};
const hello = [messageOf(1, 'Hello')];

/** In steps between which the responses arrive, since a request has a time limit. */
async function runSlowly(page: Page): Promise<void> {
  await page.clock.runFor(5000);
  await settle(page);
}

/** The times (ms) between the attempts of a stream. */
const delays = [3000, 6000, 12_000, 24_000, 30_000];

test('the stream moves the count by a number, and fetches the profile of a new plan', async ({
  page,
  stub,
}) => {
  // A plan that changed while the stream was being opened shows without another request.
  const send = stub.openStream('usageStream', [], {
    profile: profileOf({ ...basic, tier: 'premium', used: 4 }),
  });
  await openAccount(page, stub, basic);
  await expect(used(page, '4 / 70')).toBeVisible();
  expect(stub.calls('getMe')).toHaveLength(1);
  send({ type: 'usageUpdate', count: 7 });
  await expect(used(page, '7 / 70')).toBeVisible();
  const bar = page.getByRole('progressbar', { name: 'Messages used this week:' });
  await expect(bar).toHaveAttribute('aria-valuenow', '10');
  await expect(bar).toHaveAttribute('aria-valuetext', '7 of 70 messages used');
  send({ type: 'usageUpdate', count: 70 });
  await expect(page.getByText('All messages of this week are used.')).toHaveCount(1);
  expect(stub.calls('streamTicket')).toHaveLength(1);
  for (const [type, tier, usage] of [
    ['subscription_update', 'platinum', '3 / 160'],
    ['subscriptionChange', 'premium', '3 / 70'],
  ] as const) {
    stub.person({ ...basic, tier });
    send({ type });
    await expect(used(page, usage)).toBeVisible();
  }
  // Another tab has taken its place.
  send({ named: streamReplaced });
  await expect(sign(page, 'Live updates paused')).toBeVisible();
  expect(stub.calls('usageStream')).toHaveLength(1);
});

test('a count that comes during a fetch of the profile is newer than the response', async ({
  page,
  stub,
}) => {
  // A stream that is silent for long would be replaced, and one that opens during a fetch makes another one.
  await stopTime(page);
  const send = stub.openStream('usageStream', []);
  await openAccount(page, stub, basic);
  send({ type: 'usageUpdate', count: 4 });
  await expect(used(page, '4 / 30')).toBeVisible();
  await settle(page);
  const release = stub.hold('getMe');
  const fetched = stub.calls('getMe').length;
  await setVisible(page, true);
  await expect.poll(() => stub.calls('getMe').length).toBe(fetched + 1);
  send({ type: 'usageUpdate', count: 9 });
  await expect(used(page, '9 / 30')).toBeVisible();
  release();
  await settle(page);
  await expect(used(page, '9 / 30')).toBeVisible();
});

test('a stream has credentials, and ends with its session; no other call has a cookie, or a token without need', async ({
  page,
  stub,
}) => {
  await page.addInitScript(() => {
    window.EventSource = class extends EventSource {
      constructor(address: string | URL, init?: EventSourceInit) {
        super(address, init);
        if (!this.withCredentials) throw new Error('The stream has no credentials.');
        Object.assign(window, { stream: this });
      }
    };
  });
  stub.openStream('usageStream');
  // Of each test, `stubbed` looks at the other calls at its end.
  await openAccount(page, stub);
  await expect.poll(() => stub.calls('usageStream')[0]?.search.get('token')).toBe('ticket');
  const isClosed = () =>
    page.evaluate(() => (window as any).stream.readyState === EventSource.CLOSED);
  expect(await isClosed()).toBe(false);
  await page.getByRole('button', { name: 'Logout' }).click();
  await expect.poll(isClosed).toBe(true);
});

test(
  'a broken stream is tried five times more, ever later, and not after logging out',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stopTime(page);
    stub.disconnect('usageStream');
    await openAccount(page, stub, basic);
    const opened = () => stub.calls('usageStream').length;
    await page.keyboard.press('Control+Shift+D');
    for (const [index, delay] of delays.entries()) {
      // The failure must have reached the page before its next wait is measured.
      await expect(page.getByText(`reconnecting (${index + 1})`)).toBeVisible();
      await page.clock.runFor(delay - 1);
      await settle(page);
      expect(opened()).toBe(index + 1);
      await page.clock.runFor(1);
      await expect.poll(opened).toBe(index + 2);
    }
    await expect(sign(page, 'Live updates paused')).toBeVisible();
    expect(opened()).toBe(6);

    await page.reload();
    await expect(sign(page, 'Reconnecting...')).toBeVisible();
    await follow(page.getByRole('button', { name: 'Logout' }), '**/login');
    await page.clock.runFor(120_000);
    await settle(page);
    expect(opened()).toBe(7);
  },
);

test(
  'a sign of life begins another series of attempts, and a visible page looks for one',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stopTime(page);
    stub.disconnect('usageStream');
    await openAccount(page, stub, basic);
    const opened = () => stub.calls('usageStream').length;
    const lose = () => expect.poll(() => runSlowly(page).then(() => lost.isVisible())).toBe(true);
    const lost = page.getByRole('button', { name: 'Connect again' });
    await lose();
    // While the server does not respond, one call in a minute and a half at most is made.
    stub.disconnect('getMe');
    const before = stub.calls('getMe').length;
    await page.clock.runFor(90_000);
    await expect.poll(() => stub.calls('getMe').length).toBeGreaterThan(before);
    await settle(page);
    expect(stub.calls('getMe').length - before).toBeLessThanOrEqual(2);
    expect(opened()).toBe(6);
    stub.person(basic);
    stub.openStream('usageStream', [{ type: 'usageUpdate', count: 9 }]);
    const isRead = () => runSlowly(page).then(() => used(page, '9 / 30').isVisible());
    await expect.poll(isRead).toBe(true);
    await expect(lost).toHaveCount(0);
  },
);

test('the chat has one stream, which carries the usage too, and the account another', async ({
  page,
  stub,
}) => {
  const reply = messageOf(2, 'Hello to you', { author: 'solace' });
  const send = stub.openStream('chatStream', [
    { type: 'usageUpdate', count: 4 },
    { type: 'message', message: reply },
  ]);
  await openConversation(page, stub, hello, { used: 1 });
  await expect(page.getByText('4 / 5 messages used this week')).toBeVisible();
  await expect(chat.message(page, 'Hello to you')).toHaveCount(1);
  const opened = () =>
    (['streamTicket', 'chatStream', 'usageStream'] as const).map((name) => stub.calls(name).length);
  await settle(page);
  expect(opened()).toEqual([1, 1, 0]);
  await page.getByRole('link', { name: 'My Account' }).click();
  await expect.poll(opened).toEqual([2, 1, 1]);
  await page.goBack();
  await expect.poll(opened).toEqual([3, 2, 1]);
  await expect(chat.message(page, 'Hello to you')).toHaveCount(1);

  // A plan that changes while the chat is open shows there.
  stub.person({ ...basic, used: 4 });
  send({ type: 'subscription_update' });
  await expect(page.getByText('4 / 30 messages used this week')).toBeVisible();
});

test(
  'a chat whose stream has given up connects again on request or with the network',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stopTime(page);
    stub.disconnect('chatStream');
    await openConversation(page, stub, hello);
    // No call shows that the server responds again.
    stub.disconnect('getChat');
    const opened = () => stub.calls('chatStream').length;
    const connect = page.getByRole('button', { name: 'Connect again' });
    const giveUp = async () => {
      await expect(sign(page, 'Connecting again...')).toBeVisible();
      await expect.poll(() => runSlowly(page).then(() => connect.isVisible())).toBe(true);
      await expect(sign(page, 'New messages no longer appear by themselves.')).toBeVisible();
    };
    await giveUp();
    expect(opened()).toBe(6);
    await connect.click();
    await expect(page.getByRole('region', { name: 'Messages' })).toBeFocused();
    await giveUp();
    const reply = messageOf(2, 'Written meanwhile', { author: 'solace' });
    stub.openStream('chatStream', [{ type: 'message', message: reply }]);
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await expect(chat.message(page, 'Written meanwhile')).toHaveCount(1);
    await expect(connect).toHaveCount(0);
  },
);
