import * as router from '@tanstack/react-router';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { layoutWords } from '#words/layout';
import { afterCheck, reloadAfterDeployment } from '../../web/app/deployment-change.ts';
import { addPageListeners } from '../../web/app/page-listeners.ts';
import { keptInTab } from '../../web/data/kept-in-tab.ts';
import { keepProfile } from '../../web/data/profile-query.ts';
import { readNotices, turnOffNotices } from '../../web/data/push-subscription.ts';
import { saveFile } from '../../web/data/save-file.ts';
import { session } from '../../web/data/session.ts';
import { noticesKey } from '../../web/data/shown-notices.ts';
import { storage } from '../../web/data/store.ts';
import { toasts } from '../../web/data/toasts.ts';
import { usePortals } from '../../web/pages/account/portals.ts';
import {
  closeTestPage,
  eventually,
  expectCalls,
  openTestPage,
  responses,
  stubGlobals,
} from './test-page.ts';

const browser = { userAgent: 'Mozilla/5.0 (Android 15; Mobile; rv:145.0) Firefox/145.0' };
const app = { userAgent: 'Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 Mobile Instagram 400.0.0' };

class TextArea {
  value = 'Half a sentence';
}

class Link {
  attributes = new Set(['href', 'target']);
  closest = () => this;
  removeAttribute = (name: string) => this.attributes.delete(name);
}

class Observer {
  observe() {}
}

beforeEach(openTestPage);
afterEach(closeTestPage);

/** Starts the page in this browser. */
function start(navigator: object = browser): void {
  const elements = { HTMLTextAreaElement: TextArea, Element: Link, MutationObserver: Observer };
  stubGlobals({ navigator, document: {}, ...elements });
  addPageListeners({} as never);
}

/** Sends an event with these fields. Returns whether its default is prevented. */
function send(name: string, fields: object): boolean {
  const event = new Event(name, { cancelable: true });
  for (const [field, value] of Object.entries(fields))
    Object.defineProperty(event, field, { value });
  return !dispatchEvent(event);
}

const said = () => toasts.take().toasts.map(({ title }) => title);

it('files are refused, except one that is pasted beside its text', () => {
  const filesAnd = (text: string) => ({ types: ['Files'], getData: () => text });
  start();
  send('paste', { clipboardData: filesAnd('text') });
  expect(said()).toEqual([]);

  send('paste', { clipboardData: filesAnd('') });
  expect(said()).toEqual([layoutWords.noFiles]);

  expect(send('drop', { dataTransfer: filesAnd('') })).toBe(true);
  expect(said()).toEqual([layoutWords.noFiles]);
});

it.each([
  ['held on a button presses once', true, new Link(), true],
  ['pressed on a button presses', false, new Link(), false],
  ['held in a text repeats', true, new TextArea(), false],
])('an Enter key %s', (_, repeat, target, isPrevented) => {
  start();
  expect(send('keydown', { key: 'Enter', repeat, target })).toBe(isPrevented);
});

describe.each([
  ['inside an app, which has one tab', app, 0],
  ['in a browser', browser, 1],
])('a second tab, %s', (_, navigator, tabs) => {
  it('opens for links where there can be one', () => {
    start(navigator);
    const target = new Link();
    send('click', { target });
    expect(target.attributes.has('target')).toBe(tabs === 1);
  });

  it('opens for the payment provider where there can be one', async () => {
    const portals = renderedPortals();
    const portalUrl = 'https://payments.example/portal';
    responses['POST /api/billing/create-portal-session'] = { success: true, portalUrl };
    const [assign, replace] = [vi.fn(), vi.fn()];
    const open = vi.fn(() => ({ document: { body: {} }, location: { replace } }));
    start(navigator);
    stubGlobals({ window: { open }, location: { href: 'https://solace.example/', assign } });
    session.start('token');

    portals?.manageBilling();
    const shown = tabs === 0 ? assign : replace;
    await vi.waitFor(() => expect(shown).toHaveBeenCalledWith(portalUrl), { timeout: 10_000 });
    expect(open).toHaveBeenCalledTimes(tabs);
  });
});

function renderedPortals() {
  const seen: ReturnType<typeof usePortals>[] = [];
  const Page = () => void seen.push(usePortals(true, () => {}));
  const memory = { history: router.createMemoryHistory(), routeTree: router.createRootRoute() };
  const place = { router: router.createRouter(memory), children: createElement(Page) };
  renderToStaticMarkup(createElement(router.RouterContextProvider, place));
  return seen[0];
}

describe('a file', () => {
  const file = new File(['text'], 'export.json');

  it.each([
    [null, true],
    ['AbortError', true],
    ['NotAllowedError', false],
  ])('inside an app is shared; with the error %s it is saved: %s', async (failure, isSaved) => {
    const share = async () => {
      if (failure) throw new DOMException('', failure);
    };
    start({ ...app, canShare: () => true, share });
    expect(await saveFile(file)).toBe(isSaved);
  });

  it('in a browser is saved by a link', async () => {
    const link = { download: '', click: vi.fn() };
    stubGlobals({ navigator: browser, document: { createElement: () => link } });
    expect(await saveFile(file)).toBe(true);
    expect([link.download, link.click.mock.calls.length]).toEqual(['export.json', 1]);
  });
});

describe('notices', () => {
  const subscriptionOf = (applicationServerKey: string) => ({
    options: { applicationServerKey: Buffer.from(applicationServerKey) },
    toJSON: () => ({}),
    unsubscribe: vi.fn(),
  });
  let present: ReturnType<typeof subscriptionOf> | null = null;
  const [close, subscribe] = [vi.fn(), vi.fn(async () => subscriptionOf('key'))];
  const registration = {
    pushManager: { getSubscription: async () => present, subscribe },
    getNotifications: async () => [{ close }],
  };
  const getRegistration = async () => registration;
  const serviceWorker = { register() {}, getRegistration, ready: getRegistration() };

  function startWith(subscription: typeof present) {
    present = subscription;
    start({ ...browser, serviceWorker });
  }

  beforeEach(() => {
    close.mockClear();
    subscribe.mockClear();
    stubGlobals({ PushManager: {}, Notification: { permission: 'granted' } });
    const publicKey = Buffer.from('key').toString('base64url');
    responses['GET /api/user/push'] = { success: true, publicKey };
    responses['PUT /api/user/push'] = { success: true };
    session.start('token');
    storage.write(noticesKey, 'token');
  });

  it('close with their session', async () => {
    startWith(null);
    session.end('token');
    await expectCalls(close, 1);
  });

  it('come again if the browser has dropped their subscription', async () => {
    keepProfile('token', {});
    session.endInitialization();
    startWith(null);
    session.beginInitialization();
    await expectCalls(subscribe, 1);
  });

  it('get a new subscription for a new key', async () => {
    const old = subscriptionOf('old');
    startWith(old);
    expect(await readNotices('token')).toBe('on');
    expect([old.unsubscribe.mock.calls.length, subscribe.mock.calls.length]).toEqual([1, 1]);
  });

  it('are off only when the server has deleted the subscription', async () => {
    startWith(subscriptionOf('key'));
    await expect(turnOffNotices('token')).rejects.toThrow();
    expect(storage.read(noticesKey)).toBe('token');

    responses['DELETE /api/user/push'] = { success: true };
    expect(await turnOffNotices('token')).toBe('off');
    expect(storage.read(noticesKey)).toBeNull();
  });
});

describe('a page whose files were removed', () => {
  const [show, reload] = [vi.fn(), vi.fn()];

  /** Starts a page with this text in its field, whose files a deployment has removed. */
  function startOutdated(value: string): void {
    start();
    const elements = (name: string) =>
      name.includes('textarea') ? { value } : { href: 'file:///removed.js', content: null };
    stubGlobals({
      fetch: async () => new Response(null, { status: 404 }),
      history: { state: null, replaceState() {} },
      location: { reload },
      earlyStart: { responses: {} },
      document: {
        head: { append() {} },
        querySelector: elements,
        querySelectorAll: (name: string) => [elements(name)],
      },
    });
  }

  beforeEach(() => {
    show.mockReset();
    reload.mockReset();
  });

  /** Loses a part of the page. Returns whether the page is loaded again. */
  function losePart(): Promise<boolean> {
    const { promise: reloaded, resolve } = Promise.withResolvers<boolean>();
    vi.spyOn(keptInTab, 'reload').mockImplementation(() => resolve(true));
    reloadAfterDeployment();
    send('vite:preloadError', { payload: new Error('Engine') });
    return Promise.race([reloaded, afterCheck().then(() => false)]);
  }

  it('is loaded again, and then says why, once', async () => {
    startOutdated('');
    expect(await losePart()).toBe(true);
    start();
    expect(said()).toEqual([layoutWords.updated]);

    start();
    expect(said()).toEqual([]);
  });

  it('stays while a form holds a text that is not kept', async () => {
    startOutdated('Half a sentence');
    expect(await losePart()).toBe(false);
  });

  it.each([
    ['is loaded again', '', reload],
    ['says what is wrong if somebody has typed', 'Half a sentence', show],
  ])('and whose app has not started %s', async (_, value, called) => {
    // The styles of the problem exist only after a build.
    const StartProblem = class {
      show = show;
      render() {}
    };
    vi.doMock('../../web/start/start-problem.ts', () => ({ StartProblem }));
    const { holdApp } = await import('../../web/start/hold-app.ts');
    vi.doUnmock('../../web/start/start-problem.ts');
    startOutdated(value);
    holdApp(Promise.resolve());
    await eventually(() => expect([...show.mock.calls, ...reload.mock.calls]).toHaveLength(1));
    expect(called).toHaveBeenCalledTimes(1);
  });
});
