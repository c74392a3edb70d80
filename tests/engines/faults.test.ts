import { Transform } from 'node:stream';
import { published } from '#contract/languages';
import type { Line, Treatment } from '../product/line.ts';
import {
  messageField,
  acceptNotice,
  buy,
  openChat,
  send,
  signIn,
  startTrial,
} from './support/steps.ts';
import type { Page } from './support/page.ts';
import { expect, test } from './support/test.ts';

const crashed = 'Something went wrong';

test.describe('a way that a person has taken is not undone by files that end with it', () => {
  test('from a page whose route is still loading', async ({ distant, line }) => {
    await distant.open('/plans');
    const left = holdScriptsUntil(line, '/es/login?plan=premium');
    await distant.link('Choose Premium', 'main');
    await left.held;
    await distant.link('Español', 'footer');
    await distant.at('/es/login?plan=premium');
    await distant.hydrated();
    expect(await distant.path()).toBe('/es/login?plan=premium');
  });

  test('from a page that another visit has left in the cache', async ({ distant, line }) => {
    await distant.open('/contact');
    await distant.open('/');
    const left = holdScriptsUntil(line, '/plans?');
    await distant.link('Login', 'header');
    await left.held;
    await distant.visit('/plans?');
    await distant.at(/^\/plans/);
    await distant.hydrated();
    expect(await distant.path()).toMatch(/^\/plans/);
  });
});

/** Holds the scripts until a page is requested. */
function holdScriptsUntil(line: Line, address: string) {
  const left = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  line.set((path, { url }) => {
    if (url === address) left.resolve();
    if (!path.startsWith('/assets/') || !path.endsWith('.js')) return null;
    held.resolve();
    return { before: left.promise };
  });
  return { held: held.promise };
}

test.describe('without a server', () => {
  test('the offline page and the kept crisis lines appear', async ({ distant, line }) => {
    await distant.open('/');
    await pagesAreKept(distant);
    line.cut();
    await distant.visit('/help-now').catch(() => null);
    await distant.reads('Argentina');
    await distant.visit('/plans').catch(() => null);
    await distant.reads('You are offline');
  });

  for (const visited of [['/'], ['/help-now', '/']])
    test(`the crisis lines stay after a visit of ${visited.join(' and ')}`, async ({
      distant,
      line,
    }) => {
      for (const path of visited) await distant.open(path);
      await pagesAreKept(distant);
      line.cut();
      await distant.visit('/help-now').catch(() => null);
      await scriptsHaveEnded(distant);
      expect(await distant.text()).toContain('Argentina');
      expect(await distant.text()).not.toContain(crashed);
      await distant.button('Argentina');
      await distant.reads('Centro de Asistencia al Suicida');
    });

  const losses: Record<string, Treatment> = {
    'is lost': { lost: 'request' },
    'never comes': { before: new Promise(() => {}) },
  };
  for (const [name, loss] of Object.entries(losses))
    test(`the crisis lines stay if another page ${name}, which is kept at the next visit`, async ({
      distant,
      line,
    }) => {
      line.set((path) => (path === '/es/offline' ? loss : null));
      await distant.open('/');
      await pagesAreKept(distant, keptPages - 1);
      line.cut();
      await distant.visit('/help-now').catch(() => null);
      await distant.reads('Argentina');
      line.mend();
      line.set(null);
      // WebKit leaves this page as it was served: for a tab it remembers files that failed.
      await distant.visit('/');
      await pagesAreKept(distant);
    });

  test('the app starts again in a tab that has lost its files', async ({ distant, line }) => {
    line.set((path) => (/\/assets\/.+\.js$/.test(path) ? { lost: 'request' } : null));
    await distant.visit('/');
    await scriptsHaveEnded(distant);
    line.set(null);
    await distant.visit('/login');
    await distant.hydrated();
  });

  test('a page that is left while its files load does not come back', async ({
    distant,
    engine,
    line,
  }) => {
    test.skip(engine.name === 'webkit', 'It loads them until the next page comes.');
    const files = Promise.withResolvers<void>();
    const isFile = (path: string) => /\/assets\/.+\.js$/.test(path);
    line.set((path) => (isFile(path) ? { after: files.promise } : null));
    // Its `load` waits for the files.
    const visit = distant.visit('/plans').catch(() => null);
    await distant.at('/plans');
    const asked = () => distant.run(() => document.querySelectorAll('script[src]').length);
    await expect.poll(() => asked().catch(() => 0), 'scripts').toBeGreaterThan(0);

    // The next page comes after any file that the left one asks for again.
    const next = Promise.withResolvers<void>();
    line.set((path) => (path === '/contact' ? { after: next.promise } : null));
    const leave = async () => {
      document.querySelector<HTMLElement>('a[href="/contact"]')!.click();
      const isUnscripted = () => document.documentElement.dataset['visitor'] === 'unscripted';
      while (!isUnscripted()) await new Promise((done) => setTimeout(done, 10));
      const links = [...document.querySelectorAll<HTMLLinkElement>('[rel=modulepreload]')];
      for (const { href } of links) await fetch(href, { cache: 'reload' });
    };
    await distant.run(leave).catch(() => null);
    next.resolve();
    files.resolve();
    await visit;
    await distant.at('/contact');
    await distant.hydrated();
  });

  test('a link inside the site says that there is no connection', async ({ distant, line }) => {
    await distant.open('/plans');
    await pagesAreKept(distant);
    line.cut();
    await distant.link('Login', 'header').catch(() => null);
    await distant.reads(/You are offline|Refresh Page/);
    await distant.visit('/help-now').catch(() => null);
    await distant.reads('Argentina');
  });
});

/** Crisis lines and offline page of each language. */
const keptPages = 2 * published.length;

/**
 * The next navigation is the service worker's, with so many kept pages. Its `state` does not say so: a page of WebKit
 * that begins in the moment of the activation reads `activating` for as long as it is open.
 */
async function pagesAreKept(page: Page, count = keptPages): Promise<void> {
  const kept = () =>
    page.run(async () => {
      const registration = await navigator.serviceWorker.getRegistration();
      if (!registration?.active) return 'no worker';
      return (await (await caches.open('offline')).keys()).length;
    });
  await expect.poll(kept, 'the kept pages').toBe(count);
}

/** The app has started, or has left the served page alone. */
const scriptsHaveEnded = (page: Page) =>
  expect
    .poll(async () => (await page.isHydrated()) || (await page.visitor()) === 'unscripted')
    .toBe(true);

test('a recording that cannot be decoded says so', async ({ distant, line, phone }) => {
  await startTrial(phone);
  await openChat(distant, phone);
  await phone.botSpeaks('A spoken reply');
  await distant.see({ role: 'button', name: /^Play voice message/ });
  line.set((path) => (path.startsWith('/api/user/chat/voice') ? { body: broken() } : null));
  await distant.button(/^Play voice message/);
  await distant.reads('This recording cannot be played here.', 'main');
});

/** Keeps the beginning of a file and its length. */
function broken(): Transform {
  let passed = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const kept = Math.max(0, 64 - passed);
      passed += chunk.length;
      done(
        null,
        Buffer.concat([
          chunk.subarray(0, kept),
          Buffer.alloc(chunk.length - chunk.subarray(0, kept).length, 7),
        ]),
      );
    },
  });
}

test.describe('a reply that came while the reader was away is seen', () => {
  const ways: Record<string, (page: Page) => Promise<void>> = {
    'after Back': async (page) => page.run(() => history.back()),
    'after a reload': async (page) => page.run(() => location.reload()),
  };
  for (const [name, comeBack] of Object.entries(ways)) {
    test(name, async ({ page, phone }) => {
      await openChat(page, phone);
      for (const number of Array(12).keys())
        await phone.botWrites(`Reply ${number}. ${'Long. '.repeat(60)}`);
      await page.reads('Reply 11.', 'main');
      if (name === 'after Back') {
        await page.link('My Account');
        await page.at('/account');
      }
      await phone.botWrites(`While you were away. ${'Long. '.repeat(60)}`);
      await comeBack(page);
      await page.at('/chat');
      await page.reads('While you were away.', 'main');
      const isShown = () =>
        page.run(() => {
          const list = document.querySelector('[data-slot=messages]');
          const newest = [...(list?.querySelectorAll('li') ?? [])].at(-1)?.getBoundingClientRect();
          // While the page is loaded again.
          if (!list || !newest) return false;
          const hasButton = [...document.querySelectorAll('button')].some(({ innerText }) =>
            innerText.includes('new message'),
          );
          return hasButton || newest.top < list.getBoundingClientRect().bottom - 40;
        });
      await expect.poll(isShown).toBe(true);
    });
  }
});

test('the pages of Stripe open in a new tab', async ({ page, phone, visitor }) => {
  await signIn(page, phone);
  await buy(page);
  await page.button('Manage Subscription');
  let opened: Awaited<ReturnType<typeof visitor.opened>> = null;
  await expect.poll(async () => (opened ??= await visitor.opened()) !== null).toBe(true);
  const address = () => opened!.run(() => location.href).catch(() => '');
  await expect.poll(address).toContain(process.env.SANDBOX_URL!.split(':').at(-1)!);
  expect(await page.path()).toBe('/account');
});

test('a press outside closes the help dialog', async ({ page, phone }) => {
  await openChat(page, phone);
  await page.button('Get help now', 'main');
  await page.see({ role: 'dialog' });
  await page.tab.click(20, 400);
  await page.gone({ role: 'dialog' });
  await page.see(messageField);
});

test('the label of the first invalid field can be read', async ({ page }) => {
  for (const width of [390, 1280]) {
    await page.tab.resize(width, 844);
    await page.open('/contact');
    await page.button('Send Message', 'main');
    const topOfLabel = () =>
      page.run(() => {
        const label = document.querySelector(`label[for="${document.activeElement!.id}"]`);
        if (!label) return -1;
        return (
          label.getBoundingClientRect().top -
          document.querySelector('header')!.getBoundingClientRect().bottom
        );
      });
    await expect.poll(topOfLabel, `at ${width}`).toBeGreaterThan(0);
  }
});

test('a page stays where it was scrolled before the app starts, and by a reload', async ({
  distant,
  line,
}) => {
  const start = Promise.withResolvers<void>();
  line.set((path) => (/\/assets\/.+\.js$/.test(path) ? { before: start.promise } : null));
  const visit = distant.visit('/terms').catch(() => null);
  const isShown = () => distant.run(() => document.querySelector('footer') !== null);
  await expect.poll(() => isShown().catch(() => false)).toBe(true);
  await distant.run(() => scrollTo(0, 1000));
  start.resolve();
  await visit;
  await distant.hydrated();
  const place = () => distant.run(() => Math.round(scrollY));
  expect(await place()).toBe(1000);

  await distant.run(() => location.reload()).catch(() => null);
  await distant.hydrated();
  await expect.poll(place).toBe(1000);
});

test('the focus ring of a country is whole', async ({ page }) => {
  await page.open('/help-now');
  await page.run(() => {
    const summary = [...document.querySelectorAll('summary')].find(
      ({ innerText }) => innerText === 'Australia',
    )!;
    const before = summary.closest('li')!.previousElementSibling!.querySelector('summary')!;
    before.focus();
  });
  await page.press('Tab');
  const cut = await page.run(() => {
    const summary = document.activeElement!;
    const list = summary.closest('ul')!;
    const { outlineWidth, outlineOffset } = getComputedStyle(summary);
    const reach = Number.parseFloat(outlineWidth) + Number.parseFloat(outlineOffset);
    const room = CSS.supports('overflow-clip-margin', '6px') ? 6 : 0;
    const [ring, frame] = [summary.getBoundingClientRect(), list.getBoundingClientRect()];
    return {
      name: summary.textContent,
      left: frame.left - room - (ring.left - reach),
    };
  });
  expect(cut.name).toBe('Australia');
  expect(cut.left).toBeLessThanOrEqual(0);
});

test('a phone number never breaks', async ({ page, phone }) => {
  await phone.write('Hi');
  await phone.setStatus('pending');
  await signIn(page, phone, '/pending-approval');
  const digits = phone.number.slice(-4);
  await page.reads(digits, 'main');
  const lines = () =>
    page.run((end) => {
      const walker = document.createTreeWalker(
        document.querySelector('main')!,
        NodeFilter.SHOW_TEXT,
      );
      const texts: Text[] = [];
      while (walker.nextNode()) texts.push(walker.currentNode as Text);
      const text = texts.find(({ data }) => data.includes(end))!;
      const range = document.createRange();
      range.setStart(text, text.data.indexOf('+1'));
      range.setEnd(text, text.data.indexOf(end) + end.length);
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
    }, digits);
  for (let width = 390; width <= 760; width += 37) {
    await page.tab.resize(width, 844);
    expect(await lines(), `lines at ${width}`).toBe(1);
  }
});

test.describe('scroll bars that take room', () => {
  test('a dialog does not move the page', async ({ page, phone }) => {
    await openChat(page, phone);
    await page.open('/account');
    const left = () =>
      page.run(() => document.querySelector('header a')!.getBoundingClientRect().left);
    const before = await left();
    await page.button('Delete Account', 'main');
    await page.see({ role: 'dialog' });
    expect(await left()).toBe(before);
  });

  test('corners stay round', async ({ page, phone }) => {
    await openChat(page, phone);
    await page.tab.resize(1280, 500);
    await page.fill('Message to Solace', 'A line.');
    await page.paste(' A line.'.repeat(200));
    expect(await roundScrollers(page)).toEqual([]);
    await page.button('Get help now', 'main');
    await page.see({ role: 'dialog' });
    expect(await roundScrollers(page)).toEqual([]);
  });
});

/** The elements whose own scroll bar would square their corners. */
const roundScrollers = (page: Page) =>
  page.run(() =>
    [...document.querySelectorAll<HTMLElement>('textarea, dialog, dialog *')]
      .filter((element) => element.scrollHeight > element.clientHeight + 1)
      .filter((element) => /auto|scroll/.test(getComputedStyle(element).overflowY))
      .filter((element) => Number.parseFloat(getComputedStyle(element).borderTopRightRadius) > 0)
      .map(({ tagName, className }) => `${tagName} ${className}`),
  );

test.describe('the focus stays near what was done', () => {
  const focused = (page: Page) => page.run(() => document.activeElement?.tagName);

  test('after the consent', async ({ page, phone }) => {
    await signIn(page, phone, '/chat');
    await acceptNotice(page);
    await expect.poll(() => focused(page)).not.toBe('BODY');
  });

  test('after clearing and after withdrawing', async ({ page, phone }) => {
    await openChat(page, phone);
    await send(page, 'Hello');
    await page.reads('Delivered', 'main');
    for (const option of ['Clear conversation', 'Withdraw consent']) {
      await page.button('Options of the conversation');
      await page.button(new RegExp(`^${option}`), 'main');
      await page.button(new RegExp(`^${option}`), 'dialog');
      await page.gone({ role: 'dialog' });
      await expect.poll(() => focused(page), option).not.toBe('BODY');
    }
  });

  test('after a session, a plan and a reason', async ({ page, phone }) => {
    await signIn(page, phone);
    await signIn(page, phone);
    await page.button('Sessions', 'main');
    await page.button(/^End session/);
    await page.gone({ role: 'button', name: /^End session/ });
    await expect.poll(() => focused(page), 'session').not.toBe('BODY');
    await buy(page);
    await page.open('/cancel');
    await page.button('Cancel subscription', 'main');
    await page.button('It costs too much', 'main');
    await page.gone({ role: 'button', name: 'It costs too much' });
    await expect.poll(() => focused(page), 'reason').not.toBe('BODY');
    await page.button('Keep my plan');
    await page.gone({ role: 'button', name: 'Keep my plan' });
    await expect.poll(() => focused(page), 'plan').not.toBe('BODY');
  });
});

test('a tap on the microphone is no muted microphone', async ({ page, phone }) => {
  await startTrial(phone);
  await openChat(page, phone);
  // In the page, whose clock stands still: on a busy machine two clicks are half a second apart.
  await page.run(() => {
    const now = performance.now();
    performance.now = () => now;
    const button = (name: string) =>
      [...document.querySelectorAll('button')].find(
        (each) => each.ariaLabel === name || each.innerText === name,
      );
    button('Record a voice message')?.click();
    new MutationObserver(() => {
      const isRecording = document.querySelector('[role=timer]') !== null;
      if (isRecording) button('Send')?.click();
    }).observe(document, { childList: true, subtree: true });
  });
  await page.reads(/too short/i, 'main');
  expect(await page.text('main')).not.toContain('muted');
});

test('an invalid field under the pointer stays marked', async ({ page }) => {
  await page.open('/contact');
  await page.button('Send Message', 'main');
  const colour = () =>
    page.run(() => {
      const { borderTopColor } = getComputedStyle(document.querySelector('[name=email]')!);
      return borderTopColor;
    });
  const settled = () =>
    page.run(() => document.querySelector('[name=email]')!.getAnimations().length);
  await expect.poll(settled).toBe(0);
  const marked = await colour();
  const { x, y } = (
    await page.see({
      role: 'textbox',
      name: /^Email/,
    })
  ).box;
  await page.tab.move(x + 30, y + 10);
  await expect.poll(settled).toBe(0);
  expect(await colour()).toBe(marked);
});

test('a code with words around it is understood', async ({ page, phone }) => {
  await phone.write('Hi');
  await page.open('/login');
  await page.fill('Phone number', phone.number);
  await page.button('Send Verification Code');
  await page.click({ role: 'textbox', name: 'Verification code' });
  await page.paste('Your code is 123456');
  await expect
    .poll(
      async () =>
        (
          await page.find({
            role: 'textbox',
            name: 'Verification code',
          })
        )?.value,
    )
    .toBe('123456');
});
