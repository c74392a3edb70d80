import { launch, type BrowserContext, type KeyInput, type Page } from 'puppeteer-core';
import type { Engine, Tab, Visitor } from './tab.ts';

const preferences = {
  // Headless, it reports no mouse otherwise, and Enter would not send a message.
  'ui.primaryPointerCapabilities': 6,
  'ui.allPointerCapabilities': 6,
  'media.navigator.permission.disabled': true,
  'media.navigator.streams.fake': true,
  'media.autoplay.default': 0,
};

/** Firefox by WebDriver BiDi, which needs no driver process. */
export async function startFirefox(executablePath: string): Promise<Engine> {
  const browser = await launch({
    browser: 'firefox',
    executablePath,
    extraPrefsFirefox: preferences,
  });
  return {
    name: 'firefox',
    visit: async () => visitorOf(await browser.createBrowserContext()),
    close: () => browser.close(),
  };
}

function visitorOf(context: BrowserContext): Visitor {
  const own = new Set<Page>();

  return {
    open: async () => {
      const page = await context.newPage();
      own.add(page);
      // WebKit's driver leaves a page without its question.
      page.on('dialog', (dialog) => void dialog.accept());
      return tabOf(page);
    },
    opened: async () => {
      const page = (await context.pages()).find((each) => !own.has(each));
      return page ? tabOf(page) : null;
    },
    close: () => context.close(),
  };
}

function tabOf(page: Page): Tab {
  return {
    goto: async (url) => void (await page.goto(url, { waitUntil: 'load' })),
    run: async (work, ...args) => page.evaluate(work as never, ...args),
    click: (x, y) => page.mouse.click(x, y),
    move: (x, y) => page.mouse.move(x, y),
    press: async (keys) => {
      const [key = '', modifier] = keys.split('+').toReversed() as KeyInput[];
      if (modifier) await page.keyboard.down(modifier);
      await page.keyboard.press(key as KeyInput);
      if (modifier) await page.keyboard.up(modifier);
    },
    type: (text) => page.keyboard.type(text),
    resize: (width, height) => page.setViewport({ width, height }),
    picture: async (file) => void (await page.screenshot({ path: file })),
  };
}
