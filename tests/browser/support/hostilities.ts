import { setTimeout as sleep } from 'node:timers/promises';
import { Transform } from 'node:stream';
import { expect, type Locator, type Page } from 'playwright/test';
import type { Treatment, Weather } from '../../product/line.ts';
import { day } from './phone.ts';

/** What the world does to a page. */
export type Hostility = {
  /** Runs in the page before anything else. */
  script?: (page: Page) => Promise<unknown>;
  /** What happens to the exchanges with the site. A new one for each test. */
  weather?: () => Weather;
  /** What happens after each step. */
  afterStep?: (page: Page) => Promise<unknown>;
  click?: (locator: Locator) => Promise<void>;
  /** Console errors that belong to it. */
  errors?: RegExp[];
  /** A page load ends the session, since nothing can be stored. */
  losesSession?: true;
};

export const hostilities = {
  'errors of other scripts': {
    script: (page) => page.addInitScript(throwForeignErrors),
    errors: [/_AutofillCallbackHandler|Script error|not ours/],
  },
  'a translator': {
    script: (page) => page.addInitScript(translate),
    // It may be earlier than React, which then renders the page itself.
    errors: [/React error #(418|423|425)/],
  },
  'blocked storage': {
    script: (page) => page.addInitScript(blockStorage),
    losesSession: true,
  },
  'full storage': {
    script: (page) => page.addInitScript(fillStorage),
    losesSession: true,
  },
  'a frozen stream': { weather: () => inStreams(() => new Transform({ transform: freeze() })) },
  'a buffering proxy': { weather: () => inStreams(() => new Transform({ transform: buffer() })) },
  'every fifth request lost': {
    weather: loseEveryFifth,
    errors: [/net::ERR_/],
  },
  'every response 8 s late': { weather: () => () => ({ after: sleep(8000) }) },
  'a clock a day ahead': { script: (page) => page.addInitScript(moveClock, day * 1000) },
  'a clock a day behind': { script: (page) => page.addInitScript(moveClock, -day * 1000) },
  'an old engine': { script: (page) => page.addInitScript(forgetNewFunctions) },
  'a reload at every step': { afterStep: (page) => page.reload() },
  'double clicks': { click: (locator) => locator.dblclick() },
  'Back at every step': {
    script: (page) => page.goto('/robots.txt'),
    afterStep: goBackAndForth,
  },
} satisfies Record<string, Hostility>;

export type HostilityName = keyof typeof hostilities;

function throwForeignErrors(): void {
  const message = "Can't find variable: _AutofillCallbackHandler";
  const dispatch = () => {
    dispatchEvent(new ErrorEvent('error', { message: 'Script error.' }));
    for (const filename of ['safari-web-extension://a/b.js', 'webkit-masked-url://hidden/', ''])
      dispatchEvent(
        new ErrorEvent('error', {
          message,
          filename,
          error: new ReferenceError(message),
        }),
      );
    void Promise.reject(new Error('not ours'));
    setTimeout(() => {
      throw new ReferenceError(message);
    });
  };
  addEventListener('DOMContentLoaded', dispatch);
  addEventListener('load', dispatch);
  addEventListener('click', dispatch);
}

/** Replaces each text node as translators do, and later ones too. */
function translate(): void {
  const isForeign = (node: Node) =>
    Boolean(node.nodeValue?.trim()) &&
    !node.parentElement?.closest('script, style, template, textarea, title, font');
  const replace = (text: Node) => {
    const inner = document.createElement('font');
    const outer = document.createElement('font');
    inner.textContent = text.nodeValue;
    outer.append(inner);
    text.parentNode?.replaceChild(outer, text);
  };
  const translateAll = (root: Node) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const found: Node[] = [];
    while (walker.nextNode()) found.push(walker.currentNode);
    found.filter(isForeign).forEach(replace);
  };
  addEventListener('load', () => {
    translateAll(document.body);
    new MutationObserver((records) => {
      for (const { target, addedNodes } of records)
        for (const node of [target, ...addedNodes]) {
          if (!node.isConnected) continue;
          if (node.nodeType !== Node.TEXT_NODE) translateAll(node);
          else if (isForeign(node)) replace(node);
        }
    }).observe(document.body, {
      childList: true,
      characterData: true,
      subtree: true,
    });
  });
}

function blockStorage(): void {
  for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches'])
    Object.defineProperty(window, name, {
      get: () => {
        throw new DOMException('The operation is insecure.', 'SecurityError');
      },
    });
}

function fillStorage(): void {
  Storage.prototype.setItem = () => {
    throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
  };
}

/** The streams of usage and conversation. */
const inStreams =
  (body: () => Transform): Weather =>
  (path) =>
    path.endsWith('-stream') ? { body: body() } : null;

type Pass = NonNullable<ConstructorParameters<typeof Transform>[0]>['transform'];

/** What comes after the opening never arrives, and the connection stays open. */
function freeze(): Pass {
  let isOpen = false;
  return (chunk: Buffer, _, done) => {
    done(null, isOpen ? undefined : chunk);
    isOpen = true;
  };
}

const heldBytes = 64 * 1024;

/** Passes nothing on before so many bytes have come. */
function buffer(): Pass {
  let held = Buffer.alloc(0);
  return (chunk: Buffer, _, done) => {
    held = Buffer.concat([held, chunk]);
    done(null, held.length > heldBytes ? held : undefined);
  };
}

/** Of the calls, each fifth comes to nothing: in turns before and after the server has done its work. */
function loseEveryFifth(): Weather {
  let calls = 0;
  return (path): Treatment | null => {
    if (!/^\/(api|auth)\//.test(path)) return null;
    calls += 1;
    if (calls % 5 !== 0) return null;
    return { lost: calls % 10 === 0 ? 'response' : 'request' };
  };
}

function moveClock(by: number): void {
  const { now } = Date;
  window.Date = new Proxy(Date, {
    construct: (target, args, of) =>
      Reflect.construct(target, args.length > 0 ? args : [now() + by], of),
    apply: (target) => new target(now() + by).toString(),
    get: (target, name) => (name === 'now' ? () => now() + by : Reflect.get(target, name)),
  });
}

/** What the oldest engines that the site promises to support lack: Chrome 111, Firefox 115, Safari 16.4. */
function forgetNewFunctions(): void {
  const remove = (owner: object, ...names: string[]) => {
    for (const name of names) Reflect.deleteProperty(owner, name);
  };
  remove(Promise, 'withResolvers', 'try');
  remove(Array, 'fromAsync');
  remove(Object, 'groupBy');
  remove(Map, 'groupBy');
  remove(URL, 'canParse', 'parse');
  remove(AbortSignal, 'any');
  remove(RegExp, 'escape');
  remove(window, 'scheduler', 'Iterator');
  remove(String.prototype, 'isWellFormed', 'toWellFormed');
  remove(HTMLDialogElement.prototype, 'closedBy', 'requestClose');
  const setMethods = ['union', 'intersection', 'difference', 'isSubsetOf', 'symmetricDifference'];
  remove(Set.prototype, ...setMethods, 'isSupersetOf', 'isDisjointFrom');
  const iterators = Object.getPrototypeOf(Object.getPrototypeOf([].values())) as object;
  remove(iterators, 'map', 'filter', 'take', 'drop', 'flatMap', 'reduce', 'toArray', 'forEach');
  remove(iterators, 'some', 'every', 'find');
}

/** Back, and forward again to where the person was; the first page of a visit has a page before it. */
async function goBackAndForth(page: Page): Promise<void> {
  const entry = () => page.evaluate(() => navigation.currentEntry?.key);
  const before = await entry();
  await page.goBack();
  await expect(async () => {
    if ((await entry()) !== before) await page.goForward({ timeout: 5000 });
    expect(await entry()).toBe(before);
  }).toPass();
}
