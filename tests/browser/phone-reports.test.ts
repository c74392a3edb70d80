import { chat, messageOf, openConversation, pageOf, send } from './support/chat.ts';
import { expectToFit, hydrated, open, settle } from './support/page.ts';
import { elsewhere } from './support/stub.ts';
import type { Page } from 'playwright/test';
import { expect, signInByExternalToken, stubbed, test, toPayment } from './support/test.ts';

/** Public reports about chat on phones, payments and codes, each of which would hurt here: the project and its number. */

const hello = [messageOf(1, 'Hello')];
const phone = { width: 390, height: 844 };

/** More than a screen. */
const long = Array.from({ length: 40 }, (_, index) =>
  messageOf(index + 1, `Line ${index + 1} of a long talk`),
);

/** Of lines that break elsewhere on a wider screen. */
const wordy = Array.from({ length: 40 }, (_, index) =>
  messageOf(
    index + 1,
    `No ${index + 1}. ${'And then I went home again. '.repeat(1 + (index % 7))}`,
  ),
);

const token = `https://example.com/?${'gclid=CjwKCAjwtIfPBhAzEiwAv9RTJnr9cOxnpdWx39FBh'.repeat(8)}`;

stubbed(
  'vm0-ai/vm0 9821, dubinc/dub 4408: a long address stays inside its bubble',
  { tag: '@full' },
  async ({ page, stub }) => {
    const both = [messageOf(1, token), messageOf(2, token, { author: 'solace' })];
    await openConversation(page, stub, both);
    await expectToFit(page, 320, 360);
    for (const message of await chat.log(page).or(chat.history(page)).locator('p').all()) {
      const { scroll, client } = await message.evaluate((one) => ({
        scroll: one.scrollWidth,
        client: one.clientWidth,
      }));
      expect(scroll).toBeLessThanOrEqual(client);
    }
  },
);

stubbed(
  'ory/kratos 4330, postlund/pyatv 164: zeros at the beginning of a code are part of it',
  { tag: '@full' },
  async ({ page, stub }) => {
    stub.respond('verifyOtp', { success: false, code: 'invalid_code' }, 400);
    await open(page, '/login');
    await page.getByLabel('Phone number').fill('+15551234567');
    await page.getByRole('button', { name: 'Send Verification Code' }).click();
    await page.getByLabel('Verification code').fill('004217');
    await page
      .getByRole('button', {
        name: 'Verify Code',
        exact: true,
      })
      .click();
    await expect.poll(() => stub.calls('verifyOtp').length).toBe(1);
    expect(stub.calls('verifyOtp')[0]!.body).toMatchObject({ otp: '004217' });
  },
);

test(
  'openfoodnetwork 8619, mollie/magento2 687: the page of a payment says the same when it is loaded again',
  { tag: '@full' },
  async ({ page, phone: own }) => {
    await signInByExternalToken(page, own);
    await page.goto('/order?plan=basic');
    await toPayment(page).click();
    await page.getByRole('button', { name: 'Subscribe' }).click();
    const success = page.getByRole('heading', { name: 'Payment Successful!' });
    await expect(success).toBeVisible();
    for (const _ of [1, 2]) {
      await page.reload();
      await expect(success).toBeVisible();
    }
    expect((await own.holdings()).subscriptions).toHaveLength(1);
  },
);

stubbed(
  'papermark 2184, shipshapecode/shepherd 3014: the button to the payment works again after Back',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stub.signedIn({});
    const portalUrl = `${elsewhere}/checkout/1`;
    stub.respond('createSubscriptionUpdateSession', {
      success: true,
      portalUrl,
    });
    await page.route(`${elsewhere}/**`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<h1>Pay</h1>' }),
    );
    await page.goto('/order?plan=basic');
    await hydrated(page);
    for (const _ of [1, 2]) {
      await toPayment(page).click();
      await page.waitForURL(portalUrl);
      await page.goBack();
      await expect(toPayment(page)).toHaveText('Go to payment');
    }
    expect(stub.calls('createSubscriptionUpdateSession')).toHaveLength(2);
  },
);

stubbed(
  'nextcloud/talk-ios 533, CyberCodeOnline 1163: what is sent without a network waits, and the field goes on',
  { tag: '@full' },
  async ({ page, stub, context, expectedErrors }) => {
    expectedErrors.push(/ERR_INTERNET_DISCONNECTED|net::ERR/);
    await openConversation(page, stub, hello);
    await context.setOffline(true);
    await send(page, 'Are you there?');
    await expect(chat.message(page, 'Are you there?').getByText('Not sent')).toBeVisible();
    await context.setOffline(false);
    stub.respond('sendMessage', {
      success: true,
      message: messageOf(2, 'And now?'),
    });
    await send(page, 'And now?');
    await expect.poll(() => stub.calls('sendMessage').length).toBe(1);
    await expect(chat.message(page, 'Are you there?')).toBeVisible();
  },
);

stubbed(
  'tommyxchow/frosty 497: a text that came too soon is in the field again',
  { tag: '@full' },
  async ({ page, stub }) => {
    const limited = { success: false, code: 'rate_limited' };
    stub.respond('sendMessage', limited, 429, { 'retry-after': '30' });
    await openConversation(page, stub, hello);
    await send(page, 'Too soon');
    await expect(page.getByRole('main').getByRole('alert')).toBeVisible();
    await expect(chat.field(page)).toHaveValue('Too soon');
  },
);

stubbed(
  'threema-web 777, nearai/ironclaw 1139: the Enter that ends a composition sends nothing',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openConversation(page, stub, hello);
    await chat.field(page).fill('にほん');
    const enter = (details: object) =>
      chat.field(page).evaluate(
        (field, init) =>
          field.dispatchEvent(
            new KeyboardEvent('keydown', {
              bubbles: true,
              ...init,
            }),
          ),
        { key: 'Enter', ...details },
      );
    await enter({ isComposing: true });
    await enter({ keyCode: 229 });
    await settle(page);
    expect(stub.calls('sendMessage')).toHaveLength(0);
    await expect(chat.field(page)).toHaveValue('にほん');
  },
);

stubbed(
  'livechat/chat-widget-sample 13: a conversation at its end does not drag the page along',
  { tag: '@full' },
  async ({ page, stub }) => {
    await page.setViewportSize(phone);
    await openConversation(page, stub, long);
    const place = await page.evaluate(() => scrollY);
    await page.mouse.move(195, 400);
    for (const by of [4000, -9000, 9000]) await page.mouse.wheel(0, by);
    await settle(page);
    expect(await page.evaluate(() => scrollY)).toBe(place);
    await expect(chat.field(page)).toBeInViewport();
  },
);

const list = (page: Page) => page.locator('[data-slot=messages]');

/** The number of the first message that is read. */
const firstRead = (page: Page) =>
  list(page).evaluate((one) => {
    const edge = one.getBoundingClientRect().top;
    const lines = [...one.querySelectorAll('li')];
    const first = lines.find((line) => line.getBoundingClientRect().bottom > edge + 1);
    return /No (\d+)\. And/.exec(first!.textContent)?.[1];
  });

/** Scrolls to a message, as a reader does. */
async function readFrom(page: Page, number: number): Promise<void> {
  await chat.message(page, `No ${number}. And`).evaluate((line) => line.scrollIntoView());
  await settle(page);
}

const turned = { width: 844, height: 390 };

stubbed(
  'damus 3669, talk-android 848: a phone that is turned keeps its place, the field and what was typed',
  async ({ page, stub }) => {
    await page.setViewportSize(phone);
    await openConversation(page, stub, wordy);
    await chat.field(page).fill('Half a sen');
    for (const number of [7, 20]) {
      await readFrom(page, number);
      for (const size of [turned, phone, turned, phone]) {
        await page.setViewportSize(size);
        await expect.poll(() => firstRead(page)).toBe(String(number));
        await expect(chat.field(page)).toBeInViewport({ ratio: 0.9 });
        await expect(chat.field(page)).toHaveValue('Half a sen');
      }
    }
    // Whoever was at the end stays there, and sees what comes in.
    await list(page).evaluate((one) => one.scrollTo(0, one.scrollHeight));
    await settle(page);
    for (const size of [turned, phone, turned]) {
      await page.setViewportSize(size);
      await expect(chat.message(page, 'No 40. And')).toBeInViewport();
    }
  },
);

stubbed(
  'who scrolls up in the moment in which the list changes its size stays there',
  { tag: '@full' },
  async ({ page, stub }) => {
    await page.setViewportSize(phone);
    await openConversation(page, stub, wordy);
    await settle(page);
    await chat.message(page, 'No 12. And').evaluate((line) => {
      line.closest<HTMLElement>('[data-slot=messages]')!.style.maxHeight = '300px';
      line.scrollIntoView();
    });
    await settle(page);
    expect(await firstRead(page)).toBe('12');
    await chat.field(page).fill('A long text. '.repeat(40));
    await settle(page);
    expect(await firstRead(page)).toBe('12');
  },
);

stubbed(
  'the keyboard of a phone covers neither what is read nor the field',
  async ({ page, stub }) => {
    await page.addInitScript(() => {
      const viewport = Object.assign(new EventTarget(), {
        height: 844,
        scale: 1,
        offsetTop: 0,
      });
      Object.defineProperty(window, 'visualViewport', { value: viewport });
    });
    await page.setViewportSize(phone);
    await openConversation(page, stub, wordy);
    await readFrom(page, 12);
    await chat.field(page).fill('A long text. '.repeat(40));
    for (const height of [420, 844, 420]) {
      await page.evaluate((left) => {
        Object.assign(window.visualViewport!, { height: left });
        window.visualViewport!.dispatchEvent(new Event('resize'));
      }, height);
      await expect.poll(() => firstRead(page)).toBe('12');
      await expect
        .poll(async () => {
          const { y, height: high } = (await chat.field(page).locator('..').boundingBox())!;
          return y + high;
        })
        .toBeLessThanOrEqual(height);
    }
  },
);

/** The media features that hold on a device (https://patrickhlauke.github.io/touch/pointer-hover-any-pointer-any-hover/results/). */
const touched = ['(pointer: coarse)', '(hover: none)', '(any-pointer: coarse)'];
const tablet = [...touched, '(any-hover: none)'];
const phoneWithPen = [...tablet, '(any-pointer: fine)'];
const tabletWithTrackpad = [...touched, '(any-pointer: fine)', '(any-hover: hover)'];

/** Lets the scripts of the page find the pointers of a device, which Chromium does not emulate. */
const pretend = (page: Page, device: string[]) =>
  page.addInitScript((features) => {
    const ask = window.matchMedia.bind(window);
    const standIn = (feature: string) =>
      features.includes(feature) ? '(min-width: 0px)' : '(max-width: 0px)';
    window.matchMedia = (query) =>
      ask(query.replaceAll(/\((?:any-)?(?:pointer|hover): \w+\)/g, standIn));
  }, device);

stubbed(
  'hermes-webui 6476: Enter makes a new line on a phone with a pen',
  async ({ page, stub }) => {
    await pretend(page, phoneWithPen);
    await openConversation(page, stub, hello);
    await expect(chat.field(page)).toHaveAttribute('enterkeyhint', 'enter');
    await send(page, 'One');
    await expect(chat.field(page)).toHaveValue('One\n');
  },
);

stubbed('Enter sends from a tablet with a trackpad', { tag: '@full' }, async ({ page, stub }) => {
  await pretend(page, tabletWithTrackpad);
  await openConversation(page, stub, hello);
  stub.respond('sendMessage', { success: true, message: messageOf(2, 'One') });
  await expect(chat.field(page)).toHaveAttribute('enterkeyhint', 'send');
  await send(page, 'One');
  await expect(chat.field(page)).toHaveValue('');
  await expect.poll(() => stub.calls('sendMessage').length).toBe(1);
});

stubbed(
  'Signal-iOS 4287, ChatSecure-iOS 1026, zulip-mobile 4144: Control or Command with Enter sends from a tablet’s keyboard',
  async ({ page, stub }) => {
    await pretend(page, tablet);
    await openConversation(page, stub, hello);
    const sent = () => stub.calls('sendMessage').length;
    stub.respond('sendMessage', {
      success: true,
      message: messageOf(2, 'By keys'),
    });
    await chat.field(page).fill('One');
    await chat.field(page).press('Enter');
    await expect(chat.field(page)).toHaveValue('One\n');
    for (const [count, key] of ['Control+Enter', 'Meta+Enter'].entries()) {
      await chat.field(page).fill('By keys');
      await chat.field(page).press(key);
      await expect.poll(sent).toBe(count + 1);
      await expect(chat.field(page)).toHaveValue('');
    }
  },
);

stubbed(
  'betterttv 231, emesene 852: what somebody selects does not move when a reply comes',
  async ({ page, stub }) => {
    await page.setViewportSize({ width: 390, height: 600 });
    const push = stub.openStream('chatStream');
    await openConversation(page, stub, long);
    const last = chat.message(page, 'Line 40 of a long talk');
    await last.locator('p').first().click({ clickCount: 3 });
    const before = (await last.boundingBox())!.y;
    push({
      type: 'message',
      message: messageOf(41, 'A reply. '.repeat(60), { author: 'solace' }),
    });
    await expect(page.getByRole('button', { name: /new message/ })).toBeVisible();
    expect((await last.boundingBox())!.y).toBe(before);
    expect(await page.evaluate(() => getSelection()!.toString().trim())).toBe(
      'Line 40 of a long talk',
    );
  },
);

stubbed(
  'hermes-agent 44065, openclaw 147732: each paragraph of a message has its own direction',
  async ({ page, stub }) => {
    const text = 'I read this sentence to my mother today:\nמה שלומך\nShe laughed.';
    const both = [messageOf(1, text), messageOf(2, text, { author: 'solace' })];
    await openConversation(page, stub, both);
    const sides = await page
      .locator('[data-slot=messages] li[data-author] div p > span')
      .evaluateAll((texts) =>
        texts.map((one) => {
          const { left, right } = one.parentElement!.getBoundingClientRect();
          const words = one.firstChild!;
          const start = words.nodeValue!.indexOf('מ');
          const range = document.createRange();
          range.setStart(words, start);
          range.setEnd(words, start + 8);
          const found = range.getBoundingClientRect();
          return [right - found.right < 2, found.left - left > 20];
        }),
      );
    expect(sides).toEqual([
      [true, true],
      [true, true],
    ]);
  },
);

stubbed(
  'sharkord 294, betterttv 396: stacked accents cover no other message',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openConversation(page, stub, [messageOf(1, 'Above it'), messageOf(2, 'Zalgo text')]);
    const { x, y, width } = (await chat.message(page, 'Zalgo').boundingBox())!;
    const gap = { x, y: y - 12, width, height: 12 };
    const before = await page.screenshot({ clip: gap });
    await chat.message(page, 'Zalgo').evaluate((message) => {
      const marks = '\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b'.repeat(6);
      const words = message.querySelector('p span')!;
      words.textContent = words.textContent.replaceAll(/./g, `$&${marks}`);
    });
    expect((await page.screenshot({ clip: gap })).equals(before)).toBe(true);
  },
);

stubbed(
  'swisspost/design-system 7815, w3c/wcag 366: on a screen zoomed to 400 % the header goes, and the list fills it',
  { tag: '@full' },
  async ({ page, stub }) => {
    await page.setViewportSize({ width: 320, height: 256 });
    await openConversation(page, stub, long);
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await expect(page.getByRole('banner')).not.toBeInViewport();
    const { height } = (await list(page).boundingBox())!;
    expect(height).toBeGreaterThan(150);
    await chat.field(page).focus();
    await expect(chat.field(page)).toBeInViewport({ ratio: 0.9 });
    await expectToFit(page, 320);
  },
);

stubbed(
  'flutter_easyloading 107, GitHawk 735, mifos-mobile 385: a toast covers no field, and no keyboard covers it',
  async ({ page, stub }) => {
    await page.setViewportSize(phone);
    await openConversation(page, stub, hello);
    const drop = () =>
      page.evaluate(() => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(['x'], 'x.png', { type: 'image/png' }));
        const details = { bubbles: true, cancelable: true, dataTransfer };
        const event = new DragEvent('drop', details);
        document.body.dispatchEvent(event);
        return event.defaultPrevented;
      });
    // The listeners of the app load after it.
    await expect.poll(drop).toBe(true);
    const toast = page.locator('[data-scope=toast][data-part=root]');
    await expect(toast).toContainText('Pictures and files cannot be sent here.');
    const { y, height } = (await toast.boundingBox())!;
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y + height).toBeLessThan(phone.height / 2);
    const help = page.getByRole('main').getByRole('button', { name: 'Get help now' }).first();
    expect(y + height).toBeLessThan((await help.boundingBox())!.y);
  },
);

const publicPaths = ['/', '/plans', '/login', '/contact', '/help-now', '/withdraw', '/safety'];
const memberPaths = ['/account', '/chat', '/cancel', '/order?plan=premium', '/withdraw'];

stubbed(
  'floeproject.org 262, illinois-app 511, startertab 25: letters of twice the size make no page wider than a phone',
  { tag: '@full' },
  async ({ page, stub }) => {
    await page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        if (!document.head) return;
        document.documentElement.style.fontSize = '200%';
        observer.disconnect();
      }).observe(document, { childList: true, subtree: true });
    });
    const expectNoWider = async (path: string) => {
      await page.goto(path);
      await hydrated(page);
      await settle(page);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width, path).toBeLessThanOrEqual(phone.width);
    };
    await page.setViewportSize(phone);
    for (const path of [...publicPaths, '/es', '/pt-br/withdraw']) await expectNoWider(path);
    await stub.signedIn({
      tier: 'basic',
      renewalDate: '2030-01-05T00:00:00Z',
    });
    await page.evaluate(() => sessionStorage.clear());
    stub.respond('getChat', pageOf(hello));
    for (const path of memberPaths) await expectNoWider(path);
    await page.goto('/chat');
    await hydrated(page, 'main form');
    expect((await chat.field(page).boundingBox())!.width).toBeGreaterThan(250);
  },
);

stubbed(
  'wai-wcag-quickref 57, dso-toolkit 3899: a header in rows of large letters does not stay over what is read',
  async ({ page }) => {
    await page.setViewportSize(phone);
    await open(page, '/terms');
    const bottom = async () => {
      await page.evaluate(() =>
        scrollTo({
          top: 2000,
          behavior: 'instant',
        }),
      );
      return page.getByRole('banner').evaluate((bar) => bar.getBoundingClientRect().bottom);
    };
    expect(await bottom()).toBeGreaterThan(0);
    await page.evaluate(() => (document.documentElement.style.fontSize = '200%'));
    expect(await bottom()).toBeLessThanOrEqual(0);
  },
);

stubbed(
  'deltachat-android 2195, tgalal/wazapp 4: above the keyboard of a turned phone the field has a whole line',
  { tag: '@full' },
  async ({ page, stub }) => {
    await page.setViewportSize({ width: 844, height: 150 });
    await openConversation(page, stub, hello);
    await chat.field(page).fill('A line that somebody wants to see');
    const { field, seen } = await chat.field(page).evaluate((one) => ({
      field: one.clientHeight,
      seen: one.parentElement!.clientHeight,
    }));
    expect(seen).toBeGreaterThanOrEqual(field - 1);
  },
);

stubbed(
  'iTwin/stratakit 1102, lamonee_backlog 573: a close request, as Back is on Android, closes a menu or dialog and not the page',
  { tag: '@full' },
  async ({ page, stub }) => {
    await page.addInitScript(() => {
      const Native = (window as any).CloseWatcher;
      (window as any).CloseWatcher = class extends Native {
        constructor() {
          super();
          Object.assign(window, { watcher: this });
        }
      };
    });
    await openConversation(page, stub, hello);
    const menu = page.locator('details', { has: page.getByLabel('Options of the conversation') });
    await page.getByLabel('Options of the conversation').click();
    await expect(menu).toHaveAttribute('open');
    await page.waitForFunction(() => 'watcher' in window);
    await page.evaluate(() => (window as any).watcher.requestClose());
    await expect(menu).not.toHaveAttribute('open');
    for (const name of ['Get help now', 'Clear conversation']) {
      if (name !== 'Get help now') await page.getByLabel('Options of the conversation').click();
      await page.getByRole('main').getByRole('button', { name }).click();
      await page.locator('dialog').evaluate((one) => (one as any).requestClose());
      await expect(page.locator('dialog')).toHaveCount(0);
    }
    expect(page.url()).toContain('/chat');
  },
);

stubbed(
  'afairgiant/MediKeep 1038, benweet/stackedit 1536: a chosen dark theme is not printed',
  async ({ page, stub }) => {
    await page.addInitScript(() => localStorage.setItem('theme', 'dark'));
    await openConversation(page, stub, hello);
    const colours = () =>
      chat.message(page, 'Hello').evaluate((message) => ({
        paper: getComputedStyle(document.documentElement).backgroundColor,
        ink: getComputedStyle(message.querySelector('p')!).color,
      }));
    const dark = await colours();
    await page.emulateMedia({ media: 'print' });
    const printed = await colours();
    expect(printed.paper).toBe('rgb(255, 255, 255)');
    expect(printed.ink).not.toBe(dark.ink);
  },
);
