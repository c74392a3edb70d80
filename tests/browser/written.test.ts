import type { Page } from 'playwright/test';
import { chat, chooseOption, messageOf, openConversation, pageOf, send } from './support/chat.ts';
import { spoil } from './support/contexts.ts';
import { hostilities } from './support/hostilities.ts';
import { countVisits, follow, hydrated, settle } from './support/page.ts';
import { jwt, over, profileOf, type Stub } from './support/stub.ts';
import { enterCode, expect, stubbed as test } from './support/test.ts';

const sessionOf = (sub: string, name: string) => jwt({ sub }).replace(/[^.]+$/, name);
const mine = sessionOf('me', 'firstOfMine');
const mineLater = sessionOf('me', 'secondOfMine');
const yours = sessionOf('you', 'firstOfYours');

const hello = [messageOf(1, 'Hello'), messageOf(2, 'Hello you.', { author: 'solace' })];
const worst = 'About the worst day of this year. '.repeat(18);

/** Opens the conversation of the first session; the calls of others are those of other people. */
async function openMine(page: Page, stub: Stub): Promise<void> {
  await stub.signedIn({}, mine);
  stub.respond('getChat', pageOf(hello));
  await page.goto('/chat');
  await hydrated(page, 'main form');
}

/** Ends the session somewhere else. */
function endSession(stub: Stub, token: string): void {
  const profile = { success: true, profile: profileOf() };
  stub.respondByToken('getMe', {
    [mineLater]: profile,
    [yours]: profile,
  });
  if (token === mine) stub.respond('sendMessage', over, 401);
}

async function signInAs(page: Page, stub: Stub, token: string): Promise<void> {
  stub.respond('verifyOtp', {
    success: true,
    token,
    status: 'approved',
  });
  await page.getByLabel('Phone number').fill('+15551234567');
  await enterCode(page);
}

const kept = (page: Page) => page.evaluate(() => JSON.stringify(sessionStorage));

test('a text that was refused with its session comes back to its person, after the login', async ({
  page,
  stub,
}) => {
  await openMine(page, stub);
  endSession(stub, mine);
  await send(page, worst);
  await page.waitForURL('**/login?next=%2Fchat');
  await expect(page.getByText('What you wrote and did not send is kept')).toBeVisible();
  await signInAs(page, stub, mineLater);
  await page.waitForURL('**/chat');
  await expect(chat.field(page)).toHaveValue(worst);
  await expect(chat.message(page, 'worst day')).toHaveCount(0);
});

test('what one person wrote is gone before the next one is signed in', async ({ page, stub }) => {
  await openMine(page, stub);
  endSession(stub, mine);
  await send(page, worst);
  await page.waitForURL('**/login?next=%2Fchat');
  await signInAs(page, stub, yours);
  await page.waitForURL('**/chat');
  await expect(chat.field(page)).toHaveValue('');
  expect(await kept(page)).not.toContain('worst day');
});

test(
  'a letter of nobody signed in is theirs who sign in first, and no next person’s',
  { tag: '@full' },
  async ({ page, stub }) => {
    stub.person({});
    await page.goto('/contact');
    const letter = page.getByLabel('Message');
    await hydrated(page, 'main form');
    await letter.fill(worst);
    await page.goto('/login');
    await signInAs(page, stub, mine);
    await page.waitForURL('**/account');
    await page.goto('/contact');
    await expect(letter).toHaveValue(worst);
    endSession(stub, mine);
    await page.goto('/account');
    await page.waitForURL('**/login**');
    await signInAs(page, stub, yours);
    await page.waitForURL('**/account');
    await page.goto('/contact');
    await hydrated(page, 'main form');
    await expect(letter).toHaveValue('');
    expect(await kept(page)).not.toContain('worst day');
  },
);

test('unsent messages and the draft outlive a reload, and are sent once under their ids', async ({
  page,
  stub,
}) => {
  await openMine(page, stub);
  stub.disconnect('sendMessage');
  for (const text of ['One', 'Two', 'Three']) {
    await send(page, text);
    await expect(chat.message(page, text).getByText('Not sent')).toBeVisible();
  }
  await chat.field(page).fill('Four, half typ');
  const ids = stub.calls('sendMessage').map(({ body }) => (body as { id: string }).id);
  await page.reload();
  await expect(chat.field(page)).toHaveValue('Four, half typ');
  const shown = chat.log(page).getByRole('listitem').filter({ hasText: 'Not sent' });
  await expect(shown).toHaveText([/One/, /Two/, /Three/]);
  stub.respond('sendMessage', {
    success: true,
    message: messageOf(3, 'One', { id: ids[0]! }),
  });
  await shown.first().getByRole('button', { name: 'Send again' }).click();
  await expect(shown).toHaveText([/Two/, /Three/]);
  const again = { id: ids[0], text: 'One' };
  await expect.poll(() => stub.calls('sendMessage').at(-1)!.body).toEqual(again);

  // By hand it is over.
  stub.person({});
  await follow(page.getByRole('link', { name: 'My Account' }), '**/account');
  await page.getByRole('button', { name: 'Logout' }).click();
  await page.waitForURL('**/login');
  expect(await kept(page)).not.toMatch(/Two|half typ/);
});

test(
  'two tabs of one person keep two drafts, and a log-out in one empties the other',
  { tag: '@full' },
  async ({ page, stub, context }) => {
    await openMine(page, stub);
    const other = await context.newPage();
    await other.goto('/chat');
    await hydrated(other, 'main form');
    await chat.field(page).fill('The first draft');
    await chat.field(other).fill('The second draft');
    await Promise.all([page.reload(), other.reload()]);
    await expect(chat.field(page)).toHaveValue('The first draft');
    await expect(chat.field(other)).toHaveValue('The second draft');
    await follow(page.getByRole('link', { name: 'My Account' }), '**/account');
    await page.getByRole('button', { name: 'Logout' }).click();
    await page.waitForURL('**/login');
    await other.waitForURL('**/login**');
    expect(await kept(other)).not.toContain('second draft');
  },
);

test('a deployment under an open tab loads it again, with what was typed', async ({
  page,
  stub,
  expectedErrors,
}) => {
  expectedErrors.push(/status of 404/, /A part of this page/);
  spoil(page);
  await openMine(page, stub);
  await chat.field(page).fill(worst);
  await page.route('**/assets/**', (route) => route.fulfill({ status: 404 }));
  const reloaded = page.waitForRequest((request) => request.isNavigationRequest());
  await page.getByRole('link', { name: 'My Account' }).click();
  await reloaded;
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.waitForLoadState();
  await page.goto('/chat');
  await expect(chat.field(page)).toHaveValue(worst);
});

test(
  'a deployment under two open tabs loads both again',
  { tag: '@full' },
  async ({ page, context, stub, expectedErrors }) => {
    expectedErrors.push(/status of 404/, /A part of this page/);
    const other = await context.newPage();
    for (const tab of [page, other]) {
      await tab.goto('/contact');
      await hydrated(tab, 'main form');
    }
    await context.route('**/assets/**', (route) => route.fulfill({ status: 404 }));
    for (const tab of [page, other]) {
      const reloaded = tab.waitForRequest((request) => request.isNavigationRequest());
      await tab.getByRole('link', { name: 'Plans' }).click();
      await reloaded;
    }
    expect(stub.calls('getMe')).toEqual([]);
  },
);

test(
  'a file that stays away loads a page again once, also with blocked storage',
  { tag: '@full' },
  async ({ page, expectedErrors }) => {
    expectedErrors.push(/status of 404/, /A part of this page/);
    await hostilities['blocked storage'].script(page);
    const visits = countVisits(page);
    let checks = 0;
    await page.route('**/phone-library.js', (route) => route.fulfill({ status: 404 }));
    await page.route('**/index.js', (route) => {
      if (route.request().method() !== 'HEAD') return route.fallback();
      checks += 1;
      return route.fulfill({ status: 404 });
    });
    await page.goto('/login');
    await expect.poll(() => checks).toBeGreaterThanOrEqual(2);
    await settle(page);
    await expect(page.getByLabel('Phone number')).toBeVisible();
    expect(visits()).toBe(2);
  },
);

/** What must lead nowhere but to the account. */
/** The rules of sign-in know more of them. */
const astray = ['//evil.example/chat', 'javascript:alert(1)//chat'];

test(
  'the login leads back to private pages, and nowhere else',
  { tag: '@full' },
  async ({ page, stub }) => {
    stub.respond('getChat', pageOf(hello));
    const cases: [string, RegExp][] = [
      ['/chat', /\/chat$/],
      ['/es/chat', /\/chat$/],
      ...astray.map((next): [string, RegExp] => [next, /\/account$/]),
    ];
    for (const [next, url] of cases) {
      await page.goto(`/login?next=${encodeURIComponent(next)}`);
      await signInAs(page, stub, mine);
      await page.waitForURL(url);
      // Signed in already, it leads on at once.
      await page.goto(`/login?next=${encodeURIComponent(next)}`);
      await page.waitForURL(url);
      await page.evaluate(() => localStorage.clear());
    }
    await page.goto('/pt-br/chat');
    await page.waitForURL('**/pt-br/login?next=%2Fchat');
  },
);

test('copied text holds what was seen, with whole addresses', async ({ page, stub }) => {
  const link = 'See https://example.org/sleep for a list.';
  await openConversation(page, stub, [
    messageOf(1, 'Hi'),
    messageOf(2, link, { author: 'solace' }),
  ]);
  const text = await chat.message(page, 'for a list').evaluate((item) => {
    const selection = getSelection()!;
    selection.selectAllChildren(item.closest('ol')!);
    return selection.toString();
  });
  expect(text).toContain(link);
  expect(text).not.toMatch(/opens in a new tab|Solace said|You said/);
  await chat.message(page, 'for a list').getByText('See').click({ clickCount: 3 });
  expect((await page.evaluate(() => getSelection()!.toString())).trim()).toBe(link);
});

test('the whole conversation is printed, with names and without the field', async ({
  page,
  stub,
}) => {
  const newer = Array.from({ length: 50 }, (_, index) => messageOf(index + 51, `Newer ${index}.`));
  const older = Array.from({ length: 50 }, (_, index) => messageOf(index + 1, `Older ${index}.`));
  await page.addInitScript(() => {
    window.print = () => document.body.setAttribute('data-printed', 'yes');
  });
  await openConversation(page, stub, newer, {}, { hasMore: true });
  stub.respond('getChat', pageOf(older));
  await page.keyboard.press('Control+p');
  await expect(page.locator('body')).toHaveAttribute('data-printed', 'yes');
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByText('Older 0.')).toBeVisible();
  const list = page.locator('[data-slot=messages]');
  expect(await list.evaluate((one) => one.clientHeight >= one.scrollHeight - 1)).toBe(true);
  await expect(chat.field(page)).toBeHidden();
  const speaker = chat.message(page, 'Newer 7.').getByText('You said');
  expect((await speaker.boundingBox())!.width).toBeGreaterThan(20);
});

test(
  'pasted and dropped files get a sentence, and texts pass',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openConversation(page, stub, hello);
    await chat.field(page).fill('My draft');
    const give = (kind: 'paste' | 'drop' | 'dragover', target: string, withText = false) =>
      page.evaluate(
        ([type, selector, text]) => {
          const data = new DataTransfer();
          data.items.add(new File(['x'], 'x.png', { type: 'image/png' }));
          if (text) data.setData('text/plain', 'words');
          const details = { bubbles: true, cancelable: true };
          const event =
            type === 'paste'
              ? new ClipboardEvent(type, {
                  ...details,
                  clipboardData: data,
                })
              : new DragEvent(type!, { ...details, dataTransfer: data });
          document.querySelector(selector!)!.dispatchEvent(event);
          return event.defaultPrevented;
        },
        [kind, target, withText ? 'yes' : ''],
      );
    // The listeners of the app load after it.
    await expect.poll(() => give('dragover', 'body')).toBe(true);
    const said = page.getByText('Pictures and files cannot be sent here.');
    expect(await give('paste', 'textarea', true)).toBe(false);
    await settle(page);
    await expect(said).toHaveCount(0);
    for (const place of ['textarea', '[data-slot=messages]', 'header', 'body']) {
      expect(await give('dragover', place), place).toBe(true);
      expect(await give('drop', place), place).toBe(true);
    }
    await expect(said.first()).toBeVisible();
    expect(await give('paste', 'textarea')).toBe(false);
    await expect(chat.field(page)).toHaveValue('My draft');
  },
);

test(
  'a held Enter sends once, says nothing wrong, and tries a code once',
  { tag: '@full' },
  async ({ page, stub }) => {
    const hold = async () => {
      await page.keyboard.down('Enter');
      // A key that stays down repeats.
      for (let press = 0; press < 12; press += 1) await page.keyboard.down('Enter');
      await page.keyboard.up('Enter');
    };
    stub.respond('verifyOtp', { success: false, code: 'invalid_code', message: 'Invalid.' }, 401);
    await page.goto('/login');
    await page.getByLabel('Phone number').fill('+15551234567');
    await page.getByRole('button', { name: 'Send Verification Code' }).click();
    await page.getByLabel('Verification code').fill('123456');
    await hold();
    await expect(page.getByRole('alert').first()).toBeVisible();
    await settle(page);
    expect(stub.calls('verifyOtp')).toHaveLength(1);

    await openConversation(page, stub, hello);
    stub.respond('sendMessage', {
      success: true,
      message: messageOf(3, 'Hola'),
    });
    await chat.field(page).fill('Hola');
    await hold();
    await settle(page);
    expect(stub.calls('sendMessage')).toHaveLength(1);
    await expect(chat.field(page)).toHaveValue('');
    await expect(page.getByRole('alert')).toHaveCount(0);
  },
);

test('a message that was not sent is announced once, and so is its arrival', async ({
  page,
  stub,
}) => {
  const push = stub.openStream('chatStream');
  await openConversation(page, stub, hello);
  const said = (text: string) => page.getByRole('status').filter({ hasText: text });
  stub.respond('sendMessage', {}, 500);
  await send(page, 'Can you hear me?');
  await expect(said('Your message was not sent.')).toHaveCount(1);
  const { id } = stub.calls('sendMessage').at(-1)!.body as { id: string };
  const message = messageOf(3, 'Can you hear me?', { id, state: 'sent' });
  stub.respond('sendMessage', { success: true, message });
  await chat.message(page, 'Can you hear me?').getByRole('button', { name: 'Send again' }).click();
  await expect(said('Your message was sent.')).toHaveCount(1);
  push({ type: 'message', message: { ...message, state: 'failed' } });
  const own = chat.message(page, 'Can you hear me?');
  await expect(own.getByText('Not delivered')).toBeVisible();
  await expect(said('Your message was not sent.')).toHaveCount(1);
  // The bot refused it; it is sent again under its id.
  await own.getByRole('button', { name: 'Send again' }).click();
  await expect(own.getByText('Sent', { exact: true })).toBeVisible();
  expect(stub.calls('sendMessage').at(-1)!.body).toMatchObject({ id });
});

test('the height follows a keyboard that closes late, and a zoom that ends', async ({
  page,
  stub,
}) => {
  await page.addInitScript(() => {
    const viewport = Object.assign(new EventTarget(), {
      height: 844,
      scale: 1,
      offsetTop: 0,
    });
    Object.defineProperty(window, 'visualViewport', { value: viewport });
  });
  await page.setViewportSize({ width: 390, height: 844 });
  await openConversation(page, stub, hello);
  const change = (part: object, event?: string) =>
    page.evaluate(
      ([values, name]) => {
        if (name) window.visualViewport!.dispatchEvent(new Event(name));
        Object.assign(window.visualViewport!, values);
        if (!name) window.visualViewport!.dispatchEvent(new Event('resize'));
      },
      [part, event] as const,
    );
  const height = () =>
    page.evaluate(() => document.documentElement.style.getPropertyValue('--visual-height'));
  await change({ height: 420 });
  expect(await height()).toBe('420px');
  // WebKit tells before the height has changed.
  await change({ height: 844 }, 'resize');
  await expect.poll(height).toBe('844px');
  await change({ height: 420, scale: 1.5 });
  await expect.poll(height).toBe('');
});

test('a notice that is still shown goes when it is read, at clearing, and at a log-out', async ({
  page,
  stub,
}) => {
  await page.addInitScript(() => {
    const shown: object[] = [];
    const show = () => shown.push({ close: () => shown.splice(0) });
    Object.assign(window, { shown, show });
    const registration = { getNotifications: async () => [...shown] };
    Object.defineProperty(navigator, 'serviceWorker', {
      value: Object.assign(new EventTarget(), {
        getRegistration: async () => registration,
        register: async () => registration,
        ready: Promise.resolve(registration),
      }),
    });
  });
  const show = () => page.evaluate(() => void (window as any).show());
  const count = () => page.evaluate(() => (window as any).shown.length as number);
  const push = stub.openStream('chatStream');
  await openConversation(page, stub, hello);
  await show();
  push({
    type: 'message',
    message: messageOf(3, 'A reply', { author: 'solace' }),
  });
  await expect.poll(count).toBe(0);
  await show();
  stub.respond('clearChat', { success: true });
  stub.respond('getChat', pageOf([]));
  await chooseOption(page, 'Clear conversation');
  await expect.poll(count).toBe(0);
  await show();
  await follow(page.getByRole('link', { name: 'My Account' }), '**/account');
  expect(await count()).toBe(1);
  await page.getByRole('button', { name: 'Logout' }).click();
  await page.waitForURL('**/login');
  await expect.poll(count).toBe(0);
});
