import type { Browser, BrowserContext, Page } from 'playwright/test';

type Shared = { context: BrowserContext; keeper: Page };

const spoiled = new WeakSet<BrowserContext>();

/** Each holds a process of the browser. */
const keptAtMost = 3;

/**
 * Browser contexts, one for each set of options, that tests use one after the other. The scripts of the site are then
 * downloaded and compiled once, which takes more than half of a page's load. Tests that intercept requests switch the
 * browser's cache off while they run.
 */
export class SharedContexts {
  readonly #browser: Browser;
  readonly #kept = new Map<string, Shared>();

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** A context with these options of Playwright's `newContext`, without a trace of the test before. */
  async take(options: object): Promise<BrowserContext> {
    const key = JSON.stringify(options);
    const shared = this.#kept.get(key) ?? (await this.#open(options));
    // The last one that was used is the last one to be closed.
    this.#kept.delete(key);
    this.#kept.set(key, shared);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptAtMost) await this.#close(oldest!);
    return shared.context;
  }

  /** Undoes what a test has done to the context, or closes it. */
  async giveBack(options: object): Promise<void> {
    const key = JSON.stringify(options);
    const { context, keeper } = this.#kept.get(key)!;
    if (spoiled.has(context)) return this.#close(key);

    await context.unrouteAll({ behavior: 'ignoreErrors' });
    for (const page of context.pages()) if (page !== keeper) await page.close();
    await context.setOffline(false);
    await context.clearCookies();
    await clearStorage(keeper);
  }

  /** The page that is kept open holds the renderer and what it has compiled. */
  async #open(options: object): Promise<Shared> {
    const context = await this.#browser.newContext(options);
    const keeper = await context.newPage();
    await keeper.goto('/robots.txt');
    return { context, keeper };
  }

  async #close(key: string): Promise<void> {
    await this.#kept.get(key)?.context.close();
    this.#kept.delete(key);
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
