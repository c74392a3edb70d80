import { expect } from 'playwright/test';
import { expectClick, find, queryOf, type Found, type Target } from './find.ts';
import { BrowserEnded, type Tab } from './tab.ts';

/** A look into a page that is loaded in that moment fails: it shows nothing that is waited for. */
const whileItChanges =
  <Shown>(shown: Shown) =>
  (error: unknown): Shown => {
    if (error instanceof BrowserEnded) throw error;
    return shown;
  };
const isChanging = whileItChanges('The page changes.');

/** A page as a person uses it. Every deed waits until it is possible. */
export class Page {
  readonly tab: Tab;
  readonly #site: string;

  constructor(tab: Tab, site: string) {
    this.tab = tab;
    this.#site = site;
  }

  run: Tab['run'] = (work, ...args) => this.tab.run(work, ...args);

  /** Opens a path and waits until React has hydrated the page. */
  async open(path: string): Promise<void> {
    await this.tab.goto(this.#site + path);
    await this.hydrated();
  }

  /** Opens a path; what comes may be anything. */
  visit = (path: string) => this.tab.goto(this.#site + path);

  isHydrated = (): Promise<boolean> =>
    this.run(() => {
      const child = document.querySelector('#root > *') ?? {};
      return Object.keys(child).some((key) => key.startsWith('__reactProps'));
    }).catch(whileItChanges(false));

  hydrated = () => expect.poll(this.isHydrated, 'React has hydrated the page').toBe(true);

  /** `unscripted` if the page is left as it was served. */
  visitor = () =>
    this.run(() => document.documentElement.dataset['visitor'] ?? '').catch(whileItChanges(''));

  find = (target: Target, scrolls = false): Promise<Found | null> =>
    this.run(find, queryOf(target), scrolls);

  /** Waits until the element is there, in the middle of the screen. */
  async see(target: Target): Promise<Found> {
    let found: Found | null = null;
    const look = async () => {
      found = await this.find(target, true).catch(whileItChanges(null));
      return found !== null;
    };
    await expect
      .poll(look, `a ${target.role} ${target.name ?? ''}`)
      .toBe(true)
      .catch(async (error: Error) => {
        error.message += `\n${await this.path()}: ${await this.text()}`;
        throw error;
      });
    return found!;
  }

  async gone(target: Target): Promise<void> {
    const look = () => this.find(target).catch(isChanging);
    await expect.poll(look, `no ${target.role} ${target.name ?? ''}`).toBe(null);
  }

  async click(target: Target): Promise<void> {
    const settled = async () => {
      const before = await this.find(target, true).catch(whileItChanges(null));
      const now = await this.find(target).catch(whileItChanges(null));
      const isStill = before && now && before.box.y === now.box.y && before.box.x === now.box.x;
      return isStill && now.isOnTop && !now.isDisabled ? now.box : null;
    };
    const click = async () => {
      const box = await settled();
      if (!box) return false;
      await this.run(expectClick);
      await this.tab.click(box.x + box.width / 2, box.y + box.height / 2);
      return this.run(() => window.wasHit ?? true).catch(whileItChanges(true));
    };
    await expect
      .poll(click, `a ${target.role} ${target.name ?? ''} that can be clicked`)
      .toBe(true);
  }

  press = (key: string) => this.tab.press(key);
  type = (text: string) => this.tab.type(text);

  button = (name: string | RegExp, within?: string) =>
    this.click({ role: 'button', name, ...(within && { within }) });
  link = (name: string | RegExp, within?: string) =>
    this.click({ role: 'link', name, ...(within && { within }) });

  /** Replaces the text of a field. */
  async fill(name: string | RegExp, text: string): Promise<void> {
    const field = { role: 'textbox', name } as const;
    const focus = async () => {
      await this.click(field);
      return (await this.find(field))?.isFocused;
    };
    await expect.poll(focus, 'focus').toBe(true);
    await this.run(() => (document.activeElement as HTMLInputElement).select());
    await this.tab.type(text);
    await expect.poll(async () => (await this.find(field))?.value, 'value').toBe(text);
  }

  /** Pastes as a person does: the page sees a paste, and the text if it does not take it itself. */
  paste = (text: string) =>
    this.run((pasted) => {
      const field = document.activeElement as HTMLInputElement;
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', pasted);
      const event = new ClipboardEvent('paste', {
        clipboardData,
        bubbles: true,
        cancelable: true,
      });
      if (field.dispatchEvent(event)) document.execCommand('insertText', false, pasted);
    }, text);

  text = (selector = 'body') =>
    this.run(
      (of) => (document.querySelector<HTMLElement>(of)?.innerText ?? '').replaceAll(/\s+/g, ' '),
      selector,
    ).catch(whileItChanges(''));

  /** Waits for a text on the page. */
  async reads(text: string | RegExp, selector = 'body'): Promise<void> {
    const matching =
      typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text);
    const look = () => this.text(selector).catch(isChanging);
    await expect.poll(look, `"${text}"`).toEqual(matching);
  }

  path = () => this.run(() => location.pathname + location.search).catch(whileItChanges(''));

  async at(path: string | RegExp): Promise<void> {
    const poll = expect.poll(this.path, 'the address');
    await (typeof path === 'string' ? poll.toBe(path) : poll.toMatch(path));
  }
}
