import type { Page } from 'playwright/test';
import { chat, messageOf, openChat, openConversation, pageOf } from './support/chat.ts';
import type { Phone } from './support/phone.ts';
import {
  expectToFit,
  hydrated,
  openAccount,
  setVisible,
  settle,
  takeToasts,
  violations,
} from './support/page.ts';
import { spoil } from './support/contexts.ts';
import { expect, isFull, stubbed, test } from './support/test.ts';

test.use({ serviceWorkers: 'allow' });
stubbed.use({ serviceWorkers: 'allow' });

const offer = (page: Page) =>
  page.getByRole('region', {
    name: 'Notices',
    exact: true,
  });
const button = (page: Page, name: string) =>
  page.getByRole('button', {
    name,
    exact: true,
  });
const workerReady = (page: Page) =>
  page.evaluate(async () => void (await navigator.serviceWorker.ready));

/** What a browser without a push service of its own offers to the page; the page reads the answers of `permission`. */
async function withPushService(
  page: Page,
  phone: Phone,
  permission: NotificationPermission = 'granted',
) {
  await page.exposeFunction('newSubscription', (key: string) => phone.subscription(key));
  await page.addInitScript((answer) => {
    const stored = () => JSON.parse(localStorage.getItem('fake subscription') ?? 'null');
    const subscriptionOf = (json: object | null) =>
      json && {
        ...json,
        options: { applicationServerKey: null },
        toJSON: () => json,
        unsubscribe: async () => localStorage.removeItem('fake subscription'),
      };
    Object.assign(PushManager.prototype, {
      getSubscription: async () => subscriptionOf(stored()),
      async subscribe({ applicationServerKey }: { applicationServerKey: string }) {
        const json = await (globalThis as any).newSubscription(applicationServerKey);
        localStorage.setItem('fake subscription', JSON.stringify(json));
        return subscriptionOf(json);
      },
    });
    const asked = () => localStorage.getItem('fake permission') ?? 'default';
    Object.defineProperty(Notification, 'permission', { get: asked });
    Notification.requestPermission = async () => {
      localStorage.setItem('fake permission', answer);
      return answer;
    };
  }, permission);
}

const isPermissionAsked = (page: Page) =>
  page.evaluate(() => localStorage.getItem('fake permission') !== null);

/** Only somebody who chats on the web can be told by a browser. */
async function turnOnNotices(page: Page): Promise<void> {
  await page.goto('/account');
  await page.getByText('Chat through the web interface').click();
  await button(page, 'Update Platform').click();
  await button(page, 'Notify Me of Replies').click();
}

test(
  'notices are turned on in the account, come without an open page, and are turned off',
  { tag: '@full' },
  async ({ page, phone }) => {
    await withPushService(page, phone);
    await openChat(page, phone);
    await turnOnNotices(page);
    await expect(page.getByText('This browser tells you when Solace has replied')).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.reload();
    await expect(button(page, 'Stop Notices of Replies')).toBeVisible();
    await page.goto('about:blank');
    await expect
      .poll(async () => {
        await phone.botWrites('A secret reply');
        return phone.notices();
      })
      .not.toEqual([]);
    expect((await phone.notices())[0]).toMatchObject({
      title: 'Solace has replied',
      path: '/chat',
    });
    await page.goto('/account');
    await button(page, 'Stop Notices of Replies').click();
    await expect(button(page, 'Notify Me of Replies')).toBeVisible();
  },
);

stubbed(
  'notices stay on while the server cannot delete the subscription',
  { tag: '@full' },
  async ({ page, phone, stub }) => {
    await withPushService(page, phone);
    stub.respond('getPlatform', { success: true, platform: 'web' });
    stub.respond('getPush', {
      success: true,
      publicKey: `B${'A'.repeat(86)}`,
    });
    stub.respond('putPush', { success: true });
    stub.respond('deletePush', { success: false }, 500);
    await openAccount(page, stub);
    await button(page, 'Notify Me of Replies').click();
    await button(page, 'Stop Notices of Replies').click();
    await takeToasts(page, ['Error', 'Server error. Please try again later.']);
    await expect(button(page, 'Stop Notices of Replies')).toBeEnabled();
    await page.reload();
    await expect(button(page, 'Stop Notices of Replies')).toBeVisible();
    stub.respond('deletePush', { success: true });
    await button(page, 'Stop Notices of Replies').click();
    await expect(button(page, 'Notify Me of Replies')).toBeVisible();
    expect(stub.calls('deletePush')).toHaveLength(2);
    await page.reload();
    await expect(button(page, 'Notify Me of Replies')).toBeVisible();
  },
);

test(
  'w3c/push-api 116, 236: a subscription that the browser has dropped is made again on the next page',
  { tag: '@full' },
  async ({ page, phone }) => {
    await withPushService(page, phone);
    await openChat(page, phone);
    await turnOnNotices(page);
    await expect(button(page, 'Stop Notices of Replies')).toBeVisible();
    const dropped = await page.evaluate(() => localStorage.getItem('fake subscription'));
    await page.evaluate(() => localStorage.removeItem('fake subscription'));
    const renewed = page.waitForResponse((response) => response.request().method() === 'PUT');
    await page.goto('/chat');
    expect((await renewed).url()).toMatch(/\/api\/user\/push$/);
    const made = await page.evaluate(() => localStorage.getItem('fake subscription'));
    expect(made).not.toBeNull();
    expect(made).not.toBe(dropped);
  },
);

stubbed(
  'chadbyte/clay 64, owncast 2153: what is changed in the settings of the browser is seen on the page at once',
  async ({ page, phone, stub }) => {
    await withPushService(page, phone);
    await page.addInitScript(() => {
      const permissionStatus = new EventTarget();
      navigator.permissions.query = async () => permissionStatus as never;
      Object.assign(window, { permissionStatus });
    });
    const choose = (permission: NotificationPermission) =>
      page.evaluate((chosen) => {
        localStorage.setItem('fake permission', chosen);
        (window as any).permissionStatus.dispatchEvent(new Event('change'));
      }, permission);
    stub.respond('getPlatform', { success: true, platform: 'web' });
    stub.respond('getPush', {
      success: true,
      publicKey: `B${'A'.repeat(86)}`,
    });
    stub.respond('putPush', { success: true });
    await openAccount(page, stub);
    await button(page, 'Notify Me of Replies').click();
    await expect(button(page, 'Stop Notices of Replies')).toBeVisible();
    await choose('denied');
    await expect(button(page, 'Stop Notices of Replies')).toHaveCount(0);
    await expect(page.getByText(/browser does not allow|blocked|settings/i).first()).toBeVisible();
    await choose('granted');
    await expect(button(page, 'Stop Notices of Replies')).toBeVisible();
  },
);

const keptAddresses = (page: Page) =>
  page.evaluate(async () => {
    const names = await caches.keys();
    const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return requests.flat().map(({ url }) => new URL(url).pathname);
  });

test('without a connection each language shows its crisis lines, or says so', async ({
  page,
  phone,
}) => {
  spoil(page);
  // Nothing personal is kept: after a conversation, too, the caches hold public pages alone.
  await openChat(page, phone);
  await workerReady(page);
  await page.reload();
  await hydrated(page, 'main form');
  const kept = ['', '/es', '/pt-br'].flatMap((start) => [`${start}/help-now`, `${start}/offline`]);
  await expect.poll(async () => (await keptAddresses(page)).toSorted()).toEqual(kept.toSorted());
  await page.context().setOffline(true);
  const chosen = [
    ['/es/help-now', 'es', 'Ayuda'],
    ['/pt-br/', 'pt-BR', 'Você está sem conexão'],
    ['/espresso', 'en', 'You are offline'],
  ] as const;
  const others = [
    ['/help-now', 'en', 'Get help now'],
    ['/pt-br/help-now', 'pt-BR', 'ajuda'],
    ['/chat', 'en', 'You are offline'],
    ['/es/account', 'es', 'No tienes conexión'],
    ['/es', 'es', 'No tienes conexión'],
  ] as const;
  for (const [path, language, words] of isFull ? [...chosen, ...others] : chosen) {
    await page.goto(path);
    await expect(page.locator('html'), path).toHaveAttribute('lang', language);
    await expect(page.locator('h1'), path).toContainText(new RegExp(words, 'i'));
    if (path.endsWith('help-now')) await expect(page.getByRole('main'), path).toContainText('988');
  }
  await page.goto('/chat');
  await expectToFit(page, 320, 768);
  expect(await violations(page)).toEqual([]);
  await page.getByRole('main').getByRole('link', { name: 'Get help now' }).click();
  await expect(page).toHaveURL(/\/help-now$/);
  await page.context().setOffline(false);
  for (const status of isFull ? [500, 502, 503, 504] : [500, 504]) {
    await failAtServer(page, status);
    await page.goto('/help-now');
    await expect(page.locator('h1')).toHaveText('Get help now');
  }
});

test('a page that was opened without a connection comes once there is one', async ({ page }) => {
  spoil(page);
  await page.goto('/help-now');
  await workerReady(page);
  await expect.poll(async () => (await keptAddresses(page)).length).toBe(6);
  await page.context().setOffline(true);
  await page.goto('/contact');
  const title = page.locator('h1');
  const tries = await refuseCalls(page);
  await page.context().setOffline(false);
  await expect.poll(tries, 'it tries, and stays while the address does not answer').toBe(2);
  await expect(title).toContainText('offline');
  await page.getByRole('link', { name: 'Try again' }).click();
  await expect(page).toHaveURL(/\/contact$/);
  await expect(title).not.toContainText('offline');

  await page.context().setOffline(true);
  await page.goto('/plans');
  await page.context().setOffline(false);
  await expect(title).toHaveText('Choose Your Plan');

  await page.context().setOffline(true);
  await page.goto('/terms');
  await setVisible(page, false);
  await page.context().setOffline(false);
  await expect(title).toContainText('offline');
  await setVisible(page, true);
  await expect(title).toHaveText('Terms and Conditions');
});

/** No call of this page is answered from now on; returns their number. */
async function refuseCalls(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const refused = { number: 0 };
    const fetch = async () => {
      refused.number += 1;
      throw new TypeError('Failed to fetch');
    };
    Object.assign(globalThis, { refused, fetch });
  });
  return () => page.evaluate(() => (globalThis as any).refused.number);
}

/** Every navigation that the worker passes on has this status and nothing to read. */
const failAtServer = (page: Page, status: number) =>
  workerOf(page).evaluate(async (failure) => {
    const worker = globalThis as any;
    await worker.registration.navigationPreload.disable();
    worker.fetch = async () => new Response('', { status: failure });
  }, status);

const workerOf = (page: Page) => page.context().serviceWorkers().at(-1)!;

type Tap = {
  windows: string[];
  path?: string;
  refuses?: 'focus' | 'navigate';
};

/** The worker of a page whose notices are kept by the test: the headless browser has no place for them. */
async function workerWithNotices(page: Page) {
  spoil(page);
  await page.goto('/help-now');
  await workerReady(page);
  const worker = workerOf(page);
  await worker.evaluate(() => {
    const { registration } = globalThis as any;
    const shown: object[] = [];
    Object.assign(globalThis, { shown });
    registration.getNotifications = async () => shown.slice(-1);
    registration.showNotification = async (title: string, options: object) =>
      void shown.push({ title, ...options });
  });
  return worker;
}

test('a push message shows a notice, one for all replies; a tap on it uses an open window, the conversation first', async ({
  page,
}) => {
  const worker = await workerWithNotices(page);
  /** Lets a push come after some seconds, and returns the notice that it shows. */
  const push = (title: string, path: string, seconds: number) =>
    worker.evaluate(
      async ([data, later]) => {
        const { PushEvent, shown } = globalThis as any;
        for (const notice of shown) notice.timestamp -= later * 1000;
        const event = new PushEvent('push', { data });
        const { promise, resolve } = Promise.withResolvers<Promise<unknown>>();
        event.waitUntil = resolve;
        dispatchEvent(event);
        await promise;
        const { timestamp, ...notice } = shown.at(-1);
        return { ...notice, isTimed: typeof timestamp === 'number' };
      },
      [JSON.stringify({ title, path }), seconds] as const,
    );
  const common = {
    tag: 'reply',
    icon: '/icon-192.png',
    isTimed: true,
  };
  const english = {
    ...common,
    title: 'Solace has replied',
    data: '/chat',
    lang: 'en',
  };
  const portuguese = {
    ...common,
    title: 'O Solace respondeu',
    data: '/pt-br/chat',
    lang: 'pt-BR',
  };
  expect(await push('Solace has replied', '/chat', 0)).toEqual({
    ...english,
    renotify: false,
  });
  // The parts of one reply.
  expect(await push('Solace has replied', '/chat', 20)).toEqual({
    ...english,
    renotify: false,
  });
  expect(await push('O Solace respondeu', '/pt-br/chat', 31)).toEqual({
    ...portuguese,
    renotify: true,
  });

  const tap = (given: Tap) =>
    worker.evaluate(async ({ windows, path = '/chat', refuses }) => {
      const { clients, location, Notification } = globalThis as any;
      const done: string[] = [];
      const act = (what: string, name: string) => async () => {
        done.push(what);
        if (name === refuses) throw new DOMException('', 'InvalidAccessError');
      };
      clients.matchAll = async () =>
        windows.map((address) => ({
          url: new URL(address, location.href).href,
          focus: act(`focus ${address}`, 'focus'),
          navigate: (to: string) => act(`navigate ${address} to ${to}`, 'navigate')(),
        }));
      clients.openWindow = async (to: string) => void done.push(`open ${to}`);
      const { promise, resolve } = Promise.withResolvers<Promise<unknown>>();
      const notification = Object.create(Notification.prototype, {
        close: { value: () => done.push('close') },
        data: { value: path },
      });
      const event = Object.assign(new Event('notificationclick'), {
        notification,
        waitUntil: resolve,
      });
      dispatchEvent(event);
      await promise;
      return done.filter((what) => what !== 'close');
    }, given);
  const cases: [Tap, string[]][] = [
    [{ windows: [] }, ['open /chat']],
    [{ windows: ['/chat'] }, ['focus /chat']],
    [{ windows: ['/account', '/chat/?x=1'] }, ['focus /chat/?x=1']],
    [{ windows: ['/plans', '/es/chat'] }, ['focus /es/chat']],
    [{ windows: ['/chat'], path: '/es/chat' }, ['focus /chat']],
    [{ windows: ['/account'] }, ['focus /account', 'navigate /account to /chat']],
    [
      { windows: ['/help-now'], path: '/es/chat' },
      ['focus /help-now', 'navigate /help-now to /es/chat'],
    ],
    [{ windows: ['/chat'], refuses: 'focus' }, ['focus /chat', 'open /chat']],
    [
      { windows: ['/plans'], refuses: 'navigate' },
      ['focus /plans', 'navigate /plans to /chat', 'open /chat'],
    ],
  ];
  for (const [given, done] of cases) expect(await tap(given), JSON.stringify(given)).toEqual(done);
});

stubbed.describe('the offer', () => {
  const replyAt = (at: string) => [
    messageOf(1, 'Are you there?'),
    messageOf(2, 'Yes.', { author: 'solace', at }),
  ];
  const late = replyAt('2025-03-04T15:30:11.000Z');
  const soon = replyAt('2025-03-04T15:30:09.000Z');

  stubbed.beforeEach(async ({ stub }) => {
    stub.respond('getPush', {
      success: true,
      publicKey: `B${'A'.repeat(86)}`,
    });
    stub.openStream('chatStream');
  });

  stubbed(
    'explains a permission that is denied, and is made once',
    { tag: '@full' },
    async ({ page, phone, stub }) => {
      await withPushService(page, phone, 'denied');
      await openConversation(page, stub, late);
      await expectToFit(page, 320, 768);
      await button(page, 'Notify me').click();
      await expect(offer(page)).toContainText(
        'Your browser does not allow notices from this site.',
      );
      expect(stub.calls('putPush')).toEqual([]);
      await page.reload();
      await hydrated(page, 'main form');
      await expect(offer(page)).toHaveCount(0);
    },
  );

  stubbed(
    'subscribes the browser when it is accepted, and not before',
    async ({ page, phone, stub }) => {
      await withPushService(page, phone);
      stub.respond('putPush', { success: true });
      await openConversation(page, stub, late);
      await expect(offer(page)).toContainText('Would you like a notice when Solace replies?');
      expect(await isPermissionAsked(page)).toBe(false);
      expect(await violations(page)).toEqual([]);
      await button(page, 'Notify me').click();
      await expect(offer(page)).toContainText(
        'You get a notice when Solace replies and no page is open.',
      );
      expect(stub.calls('putPush')).toHaveLength(1);
      await button(page, 'Close').click();
      await expect(offer(page)).toHaveCount(0);
    },
  );

  stubbed(
    'is not made at the first visit, after a quick reply, or where notices are off',
    async ({ page, stub }) => {
      const say = stub.openStream('chatStream');
      await openConversation(page, stub, []);
      for (const message of late) say({ type: 'message', message });
      await expect(chat.message(page, 'Yes.')).toBeVisible();
      stub.respond('getChat', pageOf(soon));
      await page.reload();
      await hydrated(page, 'main form');
      expect(stub.calls('getPush')).toEqual([]);
      stub.respond('getPush', { success: false, code: 'not_found', message: 'Not found' }, 404);
      stub.respond('getChat', pageOf(late));
      await page.reload();
      await expect.poll(() => stub.calls('getPush').length).toBe(1);
      await expect(offer(page)).toHaveCount(0);
    },
  );

  stubbed(
    'says on iOS that the site must be installed first',
    { tag: '@full' },
    async ({ page, stub }) => {
      await page.addInitScript(() => {
        Object.assign(navigator, { standalone: false });
        Reflect.deleteProperty(globalThis, 'PushManager');
      });
      await openConversation(page, stub, late);
      await expect(offer(page)).toContainText('first add this site to your Home Screen');
      await expect(button(page, 'Notify me')).toHaveCount(0);
    },
  );
});

stubbed(
  'macrotrackr 117, worldmonitor 1968: a new deployment’s worker takes over an installed site while somebody writes, and the page stays',
  async ({ page, stub, expectedErrors }) => {
    expectedErrors.push(/net::ERR/);
    spoil(page);
    await openConversation(page, stub, [messageOf(1, 'Hello')]);
    await workerReady(page);
    await chat.field(page).fill('Half a sentence');
    await page.evaluate(async () => {
      const { serviceWorker } = navigator;
      const taken = new Promise((resolve) => {
        serviceWorker.addEventListener('controllerchange', resolve, { once: true });
      });
      // Another address is another worker, as other bytes are.
      await serviceWorker.register('/sw.js?next');
      await taken;
    });
    await settle(page);
    await expect(chat.field(page)).toHaveValue('Half a sentence');
    await expect(chat.message(page, 'Hello')).toBeVisible();
    await page.context().setOffline(true);
    await page.goto('/help-now');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Get help now');
  },
);
