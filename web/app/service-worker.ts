import { languages, published } from '#contract/languages';
import type { Notice } from '#contract/push';
import { replyTag } from '../data/shown-notices.ts';

/** What this file uses of the types of service workers, which exclude those of pages. */
type Extendable = Event & { waitUntil: (work: Promise<unknown>) => void };
type Navigation = Extendable & {
  request: Request;
  preloadResponse: Promise<Response | undefined>;
  respondWith: (response: Promise<Response>) => void;
};
type Window = {
  url: string;
  focus: () => Promise<unknown>;
  navigate: (path: string) => Promise<unknown>;
};
type Events = {
  install: Extendable;
  activate: Extendable;
  fetch: Navigation;
  push: Extendable & { data: { json: () => Notice } };
  notificationclick: Extendable & { notification: Notification };
};
type Worker = {
  addEventListener: <Name extends keyof Events>(
    name: Name,
    listener: (event: Events[Name]) => void,
  ) => void;
  skipWaiting: () => Promise<void>;
  registration: ServiceWorkerRegistration;
  clients: {
    claim: () => Promise<void>;
    matchAll: (options: { type: 'window'; includeUncontrolled: boolean }) => Promise<Window[]>;
    openWindow: (path: string) => Promise<unknown>;
  };
};
const worker = globalThis as unknown as Worker;

/** Holds public pages alone: nothing personal is ever kept. */
const cacheName = 'offline';
const starts = languages.flatMap(({ tag, path }) => (published.includes(tag) ? [path] : []));
const keptPages = import.meta.env.DEV
  ? [] // The pages of `npm run dev` show nothing without its server.
  : starts.flatMap((start) => [`${start}/help-now`, `${start}/offline`]);

worker.addEventListener('install', (event) => {
  event.waitUntil(keepPages());
  void worker.skipWaiting();
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(Promise.all([preloadNavigations(), worker.clients.claim()]));
});

worker.addEventListener('fetch', (event) => {
  if (event.request.mode === 'navigate') event.respondWith(load(event));
});

worker.addEventListener('push', (event) => {
  event.waitUntil(notify(event.data.json()));
});

worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(openPage(event.notification.data as string));
});

/** Chromium alone knows the time, and repeats its sound. */
type Timed = Notification & { timestamp?: number };

/** The parts of one reply come within this time (ms). A later reply makes itself heard. */
const quietMs = 30_000;

/** One notice for all replies: a later one takes the place of the earlier. */
async function notify({ title, path }: Notice): Promise<void> {
  const { registration } = worker;
  const [before]: Timed[] = await registration.getNotifications({ tag: replyTag });
  // oxlint-disable-next-line no-restricted-properties -- no server's time reaches this file
  const timestamp = Date.now();
  const age = timestamp - (before?.timestamp ?? 0);
  const isPart = age >= 0 && age < quietMs;
  const options = {
    tag: replyTag,
    data: path,
    icon: '/icon-192.png',
    lang: languageOf(path),
    timestamp,
    renotify: before !== undefined && !isPart,
  };
  await registration.showNotification(title, options);
}

const languageOf = (path: string): string =>
  languages.findLast((language) => `${path}/`.startsWith(`${language.path}/`))?.tag ?? 'en';

/**
 * Without preloads each navigation waits until this worker has started. Firefox cannot have them: it ends a navigation
 * whose preload fails, whatever the worker responds (seen in Firefox 153).
 */
async function preloadNavigations(): Promise<void> {
  const { navigationPreload } = worker.registration;
  const isFirefox = navigator.userAgent.includes('Firefox/');
  await (isFirefox ? navigationPreload?.disable() : navigationPreload?.enable());
}

async function keepPages(): Promise<void> {
  const cache = await caches.open(cacheName);
  await cache.addAll(keptPages.map((path) => new Request(path, { cache: 'reload' })));
}

async function load(navigation: Navigation): Promise<Response> {
  const page = offlinePage(new URL(navigation.request.url).pathname);
  const isHelp = page.endsWith('/help-now');
  try {
    const response = await (isHelp ? soon(fromServer(navigation)) : fromServer(navigation));
    if (!isHelp || response.status < 500) return response;
    return (await caches.match(page)) ?? response;
  } catch {
    return (await caches.match(page)) ?? Response.error();
  }
}

const fromServer = async ({ request, preloadResponse }: Navigation) =>
  (await preloadResponse) ?? fetch(request);

/** The time (ms) after which the kept crisis lines take the place of those of a server that does not answer. */
const patienceMs = 4000;

function soon(response: Promise<Response>): Promise<Response> {
  return new Promise((resolve, reject) => {
    setTimeout(reject, patienceMs);
    response.then(resolve, reject);
  });
}

/** The kept page for a path, however its language is spelled: the crisis lines, or the page that says there is no connection. */
function offlinePage(path: string): string {
  const [, base = '', rest = path] = /^\/([a-z]{2})(?:[-_][a-z\d]+)?(\/.*)?$/i.exec(path) ?? [];
  const start = starts.find((each) => each.slice(1, 3) === base.toLowerCase()) ?? '';
  const isHelp = rest.replace(/\/$/, '') === '/help-now';
  return `${start}/${isHelp ? 'help-now' : 'offline'}`;
}

/** Uses a window of the site that is open, one with the conversation first, which keeps what is written there. */
async function openPage(path: string): Promise<void> {
  const windows = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const withChat = windows.find(({ url }) => isChat(url));
  const open = withChat ?? windows[0];
  try {
    if (!open) throw new Error('No window is open.');
    await open.focus();
    if (open !== withChat) await open.navigate(path);
  } catch {
    // A browser may refuse to focus or to move a window.
    await worker.clients.openWindow(path);
  }
}

function isChat(url: string): boolean {
  const path = new URL(url).pathname.replace(/\/$/, '');
  return starts.some((start) => path === `${start}/chat`);
}
