/* Workbox would be 17.9 KB for the offline pages alone, beside 2.3 KB for all (minified, 2026-11-28). */
import { languages, published } from '#contract/languages';
import { offlinePath } from '../start/protocol.ts';
import { notify, openPage, type NoticeClick, type NoticePush } from './notice-worker.ts';

/** The events of service workers, whose types exclude those of pages. */
type Extendable = Event & { waitUntil: (work: Promise<unknown>) => void };
type Navigation = Extendable & {
  request: Request;
  preloadResponse: Promise<Response | undefined>;
  respondWith: (response: Promise<Response>) => void;
};
type Events = {
  install: Extendable;
  activate: Extendable;
  fetch: Navigation;
  push: Extendable & NoticePush;
  notificationclick: Extendable & NoticeClick;
};
type Worker = {
  addEventListener: <Name extends keyof Events>(
    name: Name,
    listener: (event: Events[Name]) => void,
  ) => void;
  skipWaiting: () => Promise<void>;
  registration: ServiceWorkerRegistration;
  clients: { claim: () => Promise<void> };
};
const worker = globalThis as unknown as Worker;

/** The cache holds public pages and nothing personal. */
const cacheName = 'offline';
const languagePaths = languages.flatMap(({ tag, path }) => (published.includes(tag) ? [path] : []));
const keptPages = import.meta.env.DEV
  ? [] // The pages of `npm run dev` show nothing without its server.
  : languagePaths.flatMap((start) => [`${start}/help-now`, start + offlinePath]);

worker.addEventListener('install', (event) => {
  event.waitUntil(keepAll());
  void worker.skipWaiting();
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(Promise.all([preloadNavigations(), worker.clients.claim()]));
});

worker.addEventListener('fetch', (event) => {
  if (event.request.mode !== 'navigate') return;
  const response = load(event);
  event.respondWith(response);
  // The browser may have removed pages, or the installation lacked some.
  event.waitUntil(response.then(keepMissing));
});

worker.addEventListener('push', (event) => {
  event.waitUntil(notify(event.data.json()));
});

worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(openPage(event.notification.data));
});

/** Starts a navigation's request before the worker has started. Firefox 153 ends a navigation whose preload fails. */
async function preloadNavigations(): Promise<void> {
  const { navigationPreload } = worker.registration;
  const isFirefox = navigator.userAgent.includes('Firefox/');
  await (isFirefox ? navigationPreload?.disable() : navigationPreload?.enable());
}

/** A first worker serves the pages that came. A later one leaves the older in charge until all have come. */
async function keepAll(): Promise<void> {
  const isWhole = await keep(keptPages);
  if (!isWhole && worker.registration.active) throw new Error('A page did not come.');
}

async function keepMissing(): Promise<void> {
  const found = await Promise.all(keptPages.map((path) => caches.match(path)));
  await keep(keptPages.filter((_, at) => !found[at]));
}

/** ms until an installation goes on without a page. */
const keepingMs = 20_000;

/** Keeps each page alone, so that one that does not come takes no other with it. */
async function keep(paths: string[]): Promise<boolean> {
  const cache = await caches.open(cacheName);
  const signal = AbortSignal.timeout(keepingMs);
  const kept = await Promise.allSettled(
    paths.map((path) => cache.add(new Request(path, { cache: 'reload', signal }))),
  );
  return kept.every(({ status }) => status === 'fulfilled');
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

/** ms until the kept crisis lines replace a silent server's. */
const helpTimeoutMs = 4000;

function soon(response: Promise<Response>): Promise<Response> {
  return new Promise((resolve, reject) => {
    setTimeout(reject, helpTimeoutMs);
    response.then(resolve, reject);
  });
}

/** Returns the kept page for a path, however its language is spelled. */
function offlinePage(path: string): string {
  const [, base = '', rest = path] = /^\/([a-z]{2})(?:[-_][a-z\d]+)?(\/.*)?$/i.exec(path) ?? [];
  const start = languagePaths.find((each) => each.slice(1, 3) === base.toLowerCase()) ?? '';
  const isHelp = rest.replace(/\/$/, '') === '/help-now';
  return start + (isHelp ? '/help-now' : offlinePath);
}
