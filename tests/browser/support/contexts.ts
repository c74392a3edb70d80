import type { Browser, BrowserContext, Page } from 'playwright/test';

type Shared = { context: BrowserContext; keeper: Page };

/** A worker holds this many; each costs a renderer. */
const held = 2;
const spoiled = new WeakSet<BrowserContext>();

/**
 * Browser contexts that several tests use one after the other. The scripts of the site are then downloaded and
 * compiled once, which takes more than half of a page's load. Tests that intercept requests switch the browser's
 * cache off while they run.
 */
export class SharedContexts {
  readonly #browser: Browser;
  readonly #contexts = new Map<string, Shared>();

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** A context with these options of Playwright's `newContext`, without a trace of the test before. */
  async take(options: object): Promise<BrowserContext> {
    const key = JSON.stringify(options);
    const shared = this.#contexts.get(key) ?? (await this.#open(key));
    this.#contexts.delete(key);
    this.#contexts.set(key, shared);
    for (const oldest of [...this.#contexts.keys()].slice(0, -held)) await this.#close(oldest);
    return shared.context;
  }

  /** Undoes what a test has done to its context, or closes it. */
  async giveBack(context: BrowserContext): Promise<void> {
    const [key, shared] = [...this.#contexts].find(([, one]) => one.context === context)!;
    if (spoiled.has(context)) return this.#close(key);
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    for (const page of context.pages()) if (page !== shared.keeper) await page.close();
    await context.setOffline(false);
    await context.clearCookies();
    await clearStorage(shared.keeper);
  }

  /** The page that is kept open holds the renderer and what it has compiled. */
  async #open(key: string): Promise<Shared> {
    const context = await this.#browser.newContext(JSON.parse(key));
    const keeper = await context.newPage();
    await keeper.goto('/robots.txt');
    return { context, keeper };
  }

  async #close(key: string): Promise<void> {
    const { context } = this.#contexts.get(key)!;
    this.#contexts.delete(key);
    await context.close();
  }
}

/** Closes the context after the test: what the test does to it cannot be undone. */
export function spoil(page: Page): void {
  spoiled.add(page.context());
}

async function clearStorage(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const storageTypes = 'local_storage,indexeddb,cache_storage,service_workers';
  await session.send('Storage.clearDataForOrigin', { origin: new URL(page.url()).origin, storageTypes });
  await session.detach();
}
