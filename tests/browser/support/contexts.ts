import type { Browser, BrowserContext, Page } from 'playwright/test';

type Shared = { key: string; context: BrowserContext; keeper: Page };

const spoiled = new WeakSet<BrowserContext>();

/**
 * A browser context that tests with the same options use one after the other. The scripts of the site are then
 * downloaded and compiled once, which takes more than half of a page's load. Tests that intercept requests switch the
 * browser's cache off while they run.
 */
export class SharedContext {
  readonly #browser: Browser;
  #shared: Shared | null = null;

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** A context with these options of Playwright's `newContext`, without a trace of the test before. */
  async take(options: object): Promise<BrowserContext> {
    const key = JSON.stringify(options);
    if (this.#shared?.key !== key) await this.#close();
    this.#shared ??= await this.#open(key);
    return this.#shared.context;
  }

  /** Undoes what a test has done to the context, or closes it. */
  async giveBack(): Promise<void> {
    const { context, keeper } = this.#shared!;
    if (spoiled.has(context)) return this.#close();
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    for (const page of context.pages()) if (page !== keeper) await page.close();
    await context.setOffline(false);
    await context.clearCookies();
    await clearStorage(keeper);
  }

  /** The page that is kept open holds the renderer and what it has compiled. */
  async #open(key: string): Promise<Shared> {
    const context = await this.#browser.newContext(JSON.parse(key));
    const keeper = await context.newPage();
    await keeper.goto('/robots.txt');
    return { key, context, keeper };
  }

  async #close(): Promise<void> {
    await this.#shared?.context.close();
    this.#shared = null;
  }
}

/** Closes the context after the test: what the test does to it cannot be undone. */
export function spoil(page: Page): void {
  spoiled.add(page.context());
}

async function clearStorage(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const storageTypes = 'local_storage,indexeddb,cache_storage,service_workers';
  await session.send('Storage.clearDataForOrigin', {
    origin: new URL(page.url()).origin,
    storageTypes,
  });
  await session.detach();
}
