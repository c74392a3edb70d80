import type { Page } from 'playwright/test';
import { HostileNetwork } from './support/hostile-network.ts';
import { chat, messageOf, openConversation, pageOf, send } from './support/chat.ts';
import { open, openAccount, setVisible, settle, stopTime, takeToasts } from './support/page.ts';
import { firstRevision, jwt, type Stub } from './support/stub.ts';
import { expect, fullUnless, stubbed } from './support/test.ts';

/** A page whose network can be broken. */
const test = stubbed.extend<{ network: HostileNetwork }>({
  network: async ({ stubServer }, use) => {
    const network = await HostileNetwork.before(stubServer.url);
    await use(network);
    await network.close();
  },
  baseURL: async ({ network }, use) => use(network.url),
  expectedErrors: async ({}, use) => use([/net::ERR_/]),
});

const hello = [messageOf(1, 'Hello')];
const reply = messageOf(2, 'Are you there?', { author: 'solace' });
const sign = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text });
const tickets = (stub: Stub) => stub.calls('streamTicket').length;

/** The stream delivers the reply only to those who open it anew. */
function answerOnNextStream(stub: Stub): void {
  stub.openStream('chatStream', [{ type: 'message', message: reply }]);
}

async function openLiveChat(page: Page, stub: Stub): Promise<void> {
  await stopTime(page);
  const push = stub.openStream('chatStream');
  await openConversation(page, stub, hello, { used: 1 });
  push({ type: 'usageUpdate', count: 2 });
  await expect(page.getByText('2 / 5 messages used')).toBeVisible();
}

test('a stream that is frozen is replaced after 50 seconds without a beat', async ({
  page,
  stub,
  network,
}) => {
  await openLiveChat(page, stub);
  const thaw = network.freeze(/chat-stream/);
  answerOnNextStream(stub);
  await page.clock.runFor(49_000);
  await settle(page);
  expect(tickets(stub)).toBe(1);
  thaw();
  await page.clock.runFor(1000);
  await expect(chat.message(page, 'Are you there?')).toHaveCount(1);
  expect(tickets(stub)).toBe(2);
});

for (const [wake, wakeUp] of [
  ['the tab is shown again', (page: Page) => setVisible(page, true)],
  ['the network is back', (page: Page) => page.evaluate(() => dispatchEvent(new Event('online')))],
  [
    'the page is shown again',
    (page: Page) => page.evaluate(() => dispatchEvent(new Event('pageshow'))),
  ],
] as const)
  test(
    `a stream without a beat for a while is replaced when ${wake}`,
    { tag: '@full' },
    async ({ page, stub, network }) => {
      await openLiveChat(page, stub);
      await wakeUp(page);
      await settle(page);
      expect(tickets(stub)).toBe(1);
      const thaw = network.freeze(/chat-stream/);
      await page.clock.runFor(26_000);
      thaw();
      answerOnNextStream(stub);
      await wakeUp(page);
      await expect(chat.message(page, 'Are you there?')).toHaveCount(1);
    },
  );

test(
  'a proxy that holds the stream holds no reply: the page reads it, and says that it is not live',
  { tag: '@full' },
  async ({ page, stub, network }) => {
    await stopTime(page);
    stub.openStream('chatStream');
    network.buffer(4096, /chat-stream/);
    await openConversation(page, stub, hello);
    const sent = messageOf(2, 'Is anybody there?', {
      id: 'sent',
      state: 'sent',
    });
    stub.respond('sendMessage', { success: true, message: sent });
    await send(page, 'Is anybody there?');
    await expect(chat.message(page, 'Is anybody there?').getByText('Sent')).toBeVisible();
    const crisis = messageOf(3, 'Please talk to somebody now.', {
      author: 'solace',
      crisis: true,
    });
    stub.respond(
      'getChat',
      pageOf([...hello, { ...sent, state: 'delivered' }, crisis], { revision: firstRevision + 3 }),
    );
    await page.clock.runFor(4000);
    await expect(chat.log(page)).toContainText('Please talk to somebody now.');
    const help = page.getByRole('dialog');
    // React shows it by a timer.
    await expect.poll(() => page.clock.runFor(100).then(() => help.isVisible())).toBe(true);
    await page.keyboard.press('Escape');
    await expect(help).toHaveCount(0);
    await page.clock.runFor(6000);
    await expect(sign(page, 'Connecting again...')).toBeVisible();
  },
);

test(
  'a silent stream is not called live, and its page reads what it has missed',
  { tag: '@full' },
  async ({ page, stub, network }) => {
    await stopTime(page);
    stub.openStream('usageStream');
    network.freeze(/usage-stream/);
    await openAccount(page, stub, { used: 1 });
    await expect(sign(page, 'Connecting...')).toBeVisible();
    stub.person({ used: 4 });
    await expect
      .poll(() => page.clock.runFor(1000).then(() => sign(page, 'Reconnecting...').isVisible()))
      .toBe(true);
    await expect(page.getByText('4 / 5', { exact: true })).toBeVisible();
  },
);

test(
  'a message whose response does not come can be sent again under its id, and stays after a reload',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stopTime(page);
    await openConversation(page, stub, hello);
    stub.hold('sendMessage');
    await send(page, 'The worst day of the year');
    await expect.poll(() => stub.calls('sendMessage').length).toBe(1);
    await chat.field(page).fill('And one more th');
    await page.clock.runFor(15_000);
    const own = chat.message(page, 'The worst day of the year');
    await expect(own.getByText('Not sent')).toBeVisible();

    await page.reload();
    await expect(own.getByText('Not sent')).toBeVisible();
    await expect(chat.field(page)).toHaveValue('And one more th');
    const { id } = stub.calls('sendMessage')[0]!.body as { id: string };
    const message = messageOf(2, 'The worst day of the year', {
      id,
      state: 'sent',
    });
    stub.respond('sendMessage', { success: true, message });
    await own.getByRole('button', { name: 'Send again' }).click();
    await expect(own.getByText('Sent', { exact: true })).toBeVisible();
    expect(stub.calls('sendMessage').map(({ body }) => body)).toEqual([
      { id, text: message.text },
      { id, text: message.text },
    ]);
    await expect(own).toHaveCount(1);
  },
);

test(
  'long messages that wait for their responses keep no other one back',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openConversation(page, stub, hello);
    stub.hold('sendMessage');
    for (let sent = 1; sent <= 6; sent += 1) {
      await send(page, `${sent}${'漢'.repeat(3999)}`);
      await expect.poll(() => stub.calls('sendMessage').length).toBe(sent);
    }
  },
);

test('a code that was sent although its response was lost can be entered', async ({
  page,
  stub,
}) => {
  await stopTime(page);
  stub.hold('requestOtp');
  await open(page, '/login');
  await page.getByLabel('Phone number').fill('+15551234567');
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  await expect.poll(() => stub.calls('requestOtp').length).toBe(1);
  await page.clock.runFor(15_000);
  await expect(page.getByRole('main').getByRole('alert')).toHaveText(
    'The server takes too long to respond. Please try again.',
  );
  stub.respond('requestOtp', { success: false, code: 'rate_limited' }, 429);
  await page.getByRole('button', { name: 'Resend Verification Code' }).click();
  await expect(page.getByLabel('Verification code')).toBeVisible();
  stub.respond('verifyOtp', { success: true, token: 'e2e-token' });
  await page.getByLabel('Verification code').fill('123456');
  await page
    .getByRole('button', {
      name: 'Verify Code',
      exact: true,
    })
    .click();
  await page.waitForURL('**/account');
  expect(stub.calls('verifyOtp')[0]!.body).toEqual({
    phone: '+15551234567',
    otp: '123456',
  });
});

test(
  'buttons that wait for the server become free again, and say why',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stopTime(page);
    await openAccount(page, stub);
    for (const [name, busy, call] of [
      ['Upgrade Your Plan', 'Opening...', 'createSubscriptionUpdateSession'],
      ['Billing Management', 'Opening Portal...', 'createPortalSession'],
    ] as const) {
      stub.hold(call);
      await page.getByRole('button', { name }).click();
      await expect(page.getByRole('button', { name: busy })).toBeVisible();
      await expect.poll(() => stub.calls(call).length).toBe(1);
      await page.clock.runFor(15_000);
      await expect(page.getByRole('button', { name })).toBeEnabled();
      await page.clock.resume();
      await takeToasts(page, ['Error', 'The server takes too long to respond. Please try again.']);
    }
  },
);

test.describe('what was begun', () => {
  const code = (page: Page) => page.getByLabel('Verification code');
  const ask = async (page: Page) => {
    await open(page, '/login?plan=premium');
    await page.getByLabel('Phone number').fill('+15551234567');
    await page.getByRole('button', { name: 'Send Verification Code' }).click();
    await code(page).waitFor();
  };

  test(
    'the code step outlives a reload, a change of language and a trip elsewhere',
    { tag: '@full' },
    async ({ page, stub }) => {
      await ask(page);
      await page.reload();
      await expect(code(page)).toBeVisible();
      await expect(page.getByText('+1 555-123-4567')).toBeVisible();
      await page.goto('/robots.txt');
      await page.goBack();
      await expect(code(page)).toBeVisible();
      await page.getByRole('contentinfo').getByRole('link', { name: 'Español' }).click();
      await page.waitForURL('**/es/login?plan=premium');
      stub.respond('verifyOtp', { success: true, token: 'e2e-token' });
      await page.locator('input[name=otp]').fill('123456');
      await page.locator('form button[type=submit]').click();
      await page.waitForURL('**/es/account');
      expect(stub.calls('verifyOtp')[0]!.body).toMatchObject({ challenge: 'challenge' });
      expect(stub.calls('requestOtp')).toHaveLength(1);
      expect(await page.evaluate(() => sessionStorage.getItem('signInStep'))).toBeNull();
    },
  );

  test('the code step ends when the code is too old by the clock of the server', async ({
    page,
    stub,
  }) => {
    let now = '2026-11-28T12:00:00.000Z';
    stub.serverTime = () => now;
    await ask(page);
    now = '2026-11-28T12:04:00.000Z';
    await page.reload();
    await expect(code(page)).toBeVisible();
    await settle(page);
    await expect(code(page)).toBeVisible();
    now = '2026-11-28T12:06:00.000Z';
    await page.reload();
    await expect(page.getByText('The code is too old. Please ask for a new one.')).toBeVisible();
    await expect(page.getByLabel('Phone number')).toHaveValue('+15551234567');
  });

  test(
    'a code that can no longer be used leads to a new one',
    { tag: '@full' },
    async ({ page, stub }) => {
      const message = 'This code can no longer be used. Please ask for a new one.';
      stub.respond('verifyOtp', { success: false, code: 'code_spent', message }, 401);
      await ask(page);
      await code(page).fill('123456');
      await page
        .getByRole('button', {
          name: 'Verify Code',
          exact: true,
        })
        .click();
      await expect(page.getByRole('main').getByRole('alert')).toHaveText(message);
      await page.getByRole('button', { name: 'Send a new code' }).click();
      await expect(page.getByRole('main').getByRole('alert')).toHaveCount(0);
      await expect(code(page)).toHaveValue('');
      await expect(code(page)).toBeFocused();
      expect(stub.calls('requestOtp')).toHaveLength(2);
    },
  );

  test(
    'the link code of somebody who never wrote outlives a reload',
    { tag: '@full' },
    async ({ page, stub }) => {
      const linkCode = 'K7MPQ2XD';
      stub.respond('requestOtp', {
        success: false,
        requiresInitialContact: true,
        linkCode,
      });
      stub.respond('contactState', { success: true, state: 'waiting' });
      await open(page, '/login');
      await page.getByLabel('Phone number').fill('+15550000000');
      await page.getByRole('button', { name: 'Send Verification Code' }).click();
      const kept = page.getByText(`Keep the code ${linkCode}`);
      await expect(kept).toBeVisible();
      await page.reload();
      await expect(kept).toBeVisible();
      expect(stub.calls('requestOtp')).toHaveLength(1);
    },
  );

  test('a change of number outlives a reload', async ({ page, stub }) => {
    stub.respond('beginPhoneChange', {
      success: true,
      challenge: 'changing',
    });
    await openAccount(page, stub);
    await page.getByRole('button', { name: 'Change Number' }).click();
    await page.locator('input[name=newPhone]').fill('+15557654321');
    await page.locator('form:has(input[name=newPhone]) button[type=submit]').click();
    await expect(page.locator('input[name=otp]')).toBeVisible();
    await page.reload();
    await expect(page.locator('input[name=otp]')).toBeVisible();
    await expect(page.getByText('+1 555-765-4321')).toBeVisible();
  });

  test('the contact form outlives a reload', { tag: '@full' }, async ({ page }) => {
    await open(page, '/contact');
    await page.getByLabel('Message').fill('I was charged twice.');
    await page.reload();
    await expect(page.getByLabel('Message')).toHaveValue('I was charged twice.');
  });
});

for (const [hostility, block] of [
  [
    'blocked',
    () =>
      Object.defineProperties(window, {
        localStorage: {
          get: () => {
            throw new DOMException('', 'SecurityError');
          },
        },
        sessionStorage: {
          get: () => {
            throw new DOMException('', 'SecurityError');
          },
        },
      }),
  ],
  [
    'full',
    () => {
      Storage.prototype.setItem = () => {
        throw new DOMException('', 'QuotaExceededError');
      };
    },
  ],
] as const)
  test(
    `somebody whose storage is ${hostility} signs in`,
    fullUnless(hostility === 'blocked'),
    async ({ page, stub }) => {
      await page.addInitScript(block);
      stub.respond('verifyOtp', { success: true, token: 'e2e-token' });
      await open(page, '/login');
      await page.getByLabel('Phone number').fill('+15551234567');
      await page.getByRole('button', { name: 'Send Verification Code' }).click();
      await page.getByLabel('Verification code').fill('123456');
      await page
        .getByRole('button', {
          name: 'Verify Code',
          exact: true,
        })
        .click();
      await page.waitForURL('**/account');
      await expect(page.getByText('0 / 5', { exact: true })).toBeVisible();
      await page.getByRole('button', { name: 'Logout' }).click();
      await page.waitForURL('**/login');
    },
  );

const day = 86_400_000;

for (const error of [-31 * day, -day, day, 400 * day]) {
  const title = `a device whose clock is wrong by ${error / day} days signs in, and sees who is typing`;
  test(title, { tag: '@full' }, async ({ page, stub }) => {
    const serverNow = Date.parse('2026-11-28T12:00:00.000Z');
    stub.serverTime = () => new Date(serverNow).toISOString();
    await stopTime(page, new Date(serverNow + error).toISOString());
    const claims = {
      sub: 'me',
      iat: serverNow / 1000,
      exp: serverNow / 1000 + 30 * 86_400,
    };
    stub.respond('verifyOtp', { success: true, token: jwt(claims) });
    await open(page, '/login');
    await page.getByLabel('Phone number').fill('+15551234567');
    await page.getByRole('button', { name: 'Send Verification Code' }).click();
    await page.getByLabel('Verification code').fill('123456');
    await page
      .getByRole('button', {
        name: 'Verify Code',
        exact: true,
      })
      .click();
    await page.waitForURL('**/account');

    const push = stub.openStream('chatStream');
    stub.respond('getChat', pageOf(hello));
    await page.goto('/chat');
    await expect(chat.field(page)).toBeVisible();
    const until = new Date(serverNow + 20_000).toISOString();
    push({ type: 'typing', until });
    const isTyping = sign(page, 'Solace is writing');
    await expect(isTyping).toBeVisible();
    await page.clock.runFor(18_000);
    await expect(isTyping).toBeVisible();
    await page.clock.runFor(4000);
    await expect(isTyping).toHaveCount(0);

    // The end of the session at the server is asked for, too.
    await page.getByRole('link', { name: 'My Account' }).click();
    await page.getByRole('button', { name: 'Logout' }).click();
    await expect.poll(() => stub.calls('logout').length).toBe(1);
  });
}
