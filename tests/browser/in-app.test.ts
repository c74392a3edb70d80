import { chromium, type Page } from 'playwright/test';
import { browserArguments, ensureBrowser } from './browser.ts';
import { chat, messageOf, openConversation } from './support/chat.ts';
import { follow, hydrated, open, openAccount, settle, storedToken } from './support/page.ts';
import { clientHeader, elsewhere, servePayments } from './support/stub.ts';
import { expect, fullUnless, stubbed as test } from './support/test.ts';

/** Public reports about the browsers inside of apps, and about Back and zoom, each of which would hurt here: the project and its number. */

test.use({ viewport: { width: 390, height: 844 } });

/** Of the stub's person, as the account shows it. */
const number = '+1 555-123-4567';

const agents = {
  whatsApp:
    'Mozilla/5.0 (Linux; Android 15; Pixel 9; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/142.0.0.0 Mobile Safari/537.36',
  instagram:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 400.0.0',
};

/** Takes away what such browsers lack, and counts the tabs that the page asks for. */
async function openInside(page: Page, agent: keyof typeof agents): Promise<void> {
  await page.addInitScript((userAgent) => {
    Object.defineProperty(Navigator.prototype, 'userAgent', { get: () => userAgent });
    for (const name of ['permissions', 'serviceWorker', 'clipboard', 'mediaDevices', 'canShare'])
      Reflect.deleteProperty(Navigator.prototype, name);
    for (const name of ['PushManager', 'Notification', 'MediaRecorder'])
      Reflect.deleteProperty(globalThis, name);
    // The only view would show the empty page.
    window.open = () => {
      location.href = 'about:blank';
      return window;
    };
  }, agents[agent]);
}

for (const agent of ['whatsApp', 'instagram'] as const)
  test(
    `react-hookz 1711, docuseal 719, torii 321: inside ${agent} the account opens, its data can be copied, and the portal comes into the same view`,
    fullUnless(agent === 'whatsApp'),
    async ({ page, stub }) => {
      await openInside(page, agent);
      const data = {
        success: true,
        profile: { phoneNumber: '+15551234567' },
      };
      stub.respond('exportMe', data);
      // With its offer of notices.
      stub.respond('getPlatform', { success: true, platform: 'web' });
      await openAccount(page, stub, { tier: 'basic' });
      await expect(page.getByRole('radio', { name: /web interface/ })).toBeChecked();
      const cards = page.getByRole('region', { name: 'Account Management' });
      await cards.getByRole('button', { name: 'Download My Data' }).click();
      await expect(cards.getByRole('alert')).toContainText('cannot save files');
      await expect(cards.getByRole('region', { name: 'Text of the file' })).toContainText(
        '+15551234567',
      );
      await cards.getByRole('button', { name: 'Copy the text' }).click();
      // Nothing may be copied by a script: it is selected.
      const selected = await page.evaluate(() => String(getSelection()));
      expect(JSON.parse(selected)).toEqual(data);

      stub.respond('createPortalSession', {
        success: true,
        portalUrl: `${elsewhere}/portal`,
      });
      await servePayments(page);
      await cards.getByRole('button', { name: 'Billing Management' }).click();
      await page.waitForURL(`${elsewhere}/portal`);
    },
  );

test(
  'FileSaver.js 754, 649: inside an app the receipt of a withdrawal can be copied',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openInside(page, 'whatsApp');
    await stub.signedIn();
    const statement = {
      id: 'x',
      submittedAt: '2026-11-28T10:00:00.000Z',
      refund: 1199,
    };
    stub.respond('getWithdrawal', {
      success: true,
      contract: null,
      statement: { ...statement, state: 'done' },
      receipt: 'You have withdrawn.',
    });
    await page.goto('/withdraw');
    await page.getByRole('button', { name: 'Save as a file' }).click();
    await expect(page.getByRole('alert')).toContainText('cannot save files');
    await page.getByRole('button', { name: 'Copy the text' }).click();
    expect(await page.evaluate(() => String(getSelection()))).toBe('You have withdrawn.');
  },
);

test(
  'where an app lets files be shared, the data are shared, and closing that says nothing',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openInside(page, 'instagram');
    await page.addInitScript(() => {
      const shared: File[] = [];
      Object.assign(window, { shared });
      Object.assign(navigator, {
        canShare: () => true,
        share: ({ files }: { files: File[] }) => {
          shared.push(...files);
          return Promise.reject(new DOMException('', 'AbortError'));
        },
      });
    });
    stub.respond('exportMe', { success: true });
    await openAccount(page, stub);
    await page.getByRole('button', { name: 'Download My Data' }).click();
    const names = () =>
      page.evaluate(() => (window as unknown as { shared: File[] }).shared.map(({ name }) => name));
    await expect.poll(names).toEqual([expect.stringMatching(/^solace-data-.*\.json$/)]);
    await expect(page.getByRole('alert')).toHaveCount(0);
  },
);

test(
  'gree/unity-webview 595: inside an app a link into another app opens in the only view, and Back leads to the page',
  { tag: '@full' },
  async ({ page }) => {
    await openInside(page, 'instagram');
    await page.route('https://wa.me/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: 'WhatsApp' }),
    );
    await open(page, '/');
    await settle(page);
    await follow(page.getByRole('link', { name: /^Try Solace on WhatsApp/ }), 'https://wa.me/**');
    await page.goBack();
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  },
);

test(
  'philnash 3, angularfire 3630: inside an app the chat says that it cannot record, and offers no notice',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openInside(page, 'instagram');
    await page.addInitScript(() => Object.assign(navigator, { standalone: false }));
    stub.respond('getPush', { success: true, publicKey: 'key' });
    await openConversation(page, stub, [messageOf(1, 'Hello')], { tier: 'basic' });
    await page.getByRole('button', { name: 'Record a voice message' }).click();
    await expect(page.getByText('This browser cannot record. Please write instead.')).toBeVisible();
    await chat.field(page).fill('Then I write');
    await page.goto('/account');
    await expect(page.getByRole('button', { name: 'Download My Data' })).toBeEnabled();
    await expect(page.getByText('Add to Home Screen')).toHaveCount(0);
  },
);

test('auth0-react 562, OpenTranscribe 177: a page that Back brings back from memory shows nothing of a session that has ended', async ({
  page,
  stub,
}) => {
  await openAccount(page, stub);
  await expect(page.getByText(number).first()).toBeVisible();
  // Such a page has heard of no other tab's log-out.
  await page.evaluate(() => {
    localStorage.removeItem('authToken');
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
  });
  await page.waitForURL('**/login');
  await expect(page.getByText(number)).toHaveCount(0);
  expect(await storedToken(page)).toBeNull();
});

test(
  'whatwg/html 5744, modelence 308: in a browser with such a memory, not even the first frame does',
  { tag: '@full' },
  async ({ stub, client, baseURL }) => {
    stub.person({});
    // The headless shell has no such memory.
    const browser = await chromium.launch({
      executablePath: ensureBrowser(),
      args: browserArguments,
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
    });
    const page = await browser.newPage({
      baseURL: baseURL!,
      extraHTTPHeaders: { [clientHeader]: client },
      serviceWorkers: 'block',
    });
    await page.goto('/robots.txt');
    await page.evaluate(() => localStorage.setItem('authToken', 'e2e-token'));
    await page.addInitScript(() =>
      addEventListener('pageshow', ({ persisted }) => {
        const note = () => Object.assign(window, { frame: document.body.innerText });
        if (persisted) requestAnimationFrame(note);
      }),
    );
    await open(page, '/account');
    await expect(page.getByText(number).first()).toBeVisible();
    await page.goto('/plans');
    await page.evaluate(() => {
      localStorage.removeItem('authToken');
      // Not within this call, which the page would not survive.
      setTimeout(() => history.back());
    });
    await page.waitForURL('**/login');
    const frame = () => page.evaluate(() => (window as { frame?: string }).frame);
    await expect.poll(frame, 'it came from memory').toEqual(expect.any(String));
    expect(await frame()).not.toContain(number);
    await browser.close();
  },
);

const zoomed = ['/', '/login', '/plans', '/withdraw', '/help-now', '/contact', '/account', '/chat'];

test(
  'w3c/wcag 5114, pkp-docs 1454: at 400 % the header covers nothing that has the focus, and pinching is allowed',
  { tag: '@full' },
  async ({ page, stub }) => {
    test.slow();
    await page.setViewportSize({ width: 320, height: 256 });
    await stub.signedIn();
    stub.respond('getChat', { success: true });
    for (const path of zoomed) {
      await page.goto(path);
      await hydrated(page);
      await settle(page);
      const meta = page.locator('meta[name=viewport]');
      expect(await meta.getAttribute('content')).not.toMatch(/user-scalable|maximum-scale/);
      await page.evaluate(() =>
        scrollTo({
          top: 0,
          behavior: 'instant',
        }),
      );
      const covered = await coveredStops(page);
      expect(covered, path).toEqual([]);
    }
  },
);

/** The stops of the Tab key that something else covers wholly, or that are not on the screen. */
async function coveredStops(page: Page): Promise<string[]> {
  const covered = new Set<string>();
  for (let stop = 0; stop < 60; stop += 1) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate(() => {
      const active = document.activeElement;
      if (!active || active === document.body) return null;
      // Its label shows that a hidden radio has the focus.
      const focused = active.closest('label') ?? active;
      const box = focused.getBoundingClientRect();
      const points = [0.1, 0.3, 0.5, 0.7, 0.9].flatMap((x) =>
        [0.1, 0.3, 0.5, 0.7, 0.9].map((y) => [box.left + box.width * x, box.top + box.height * y]),
      );
      const isSeen = points.some(([x, y]) => {
        const there = document.elementFromPoint(x!, y!);
        return there !== null && (focused.contains(there) || there.contains(focused));
      });
      return isSeen
        ? ''
        : (focused.textContent ?? '').slice(0, 40) || focused.outerHTML.slice(0, 80);
    });
    if (name === null) break;
    if (name) covered.add(name);
  }
  return [...covered];
}
