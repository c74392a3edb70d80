import { languages, published } from '#contract/languages';
import type { Notice } from '#contract/push';
import { replyTag } from '../data/shown-notices.ts';

/** Types of service workers exclude those of pages. */
export type NoticePush = { data: { json: () => Notice } };
export type NoticeClick = { notification: Omit<Notification, 'data'> & { data: string } };
type Window = {
  url: string;
  focus: () => Promise<unknown>;
  navigate: (path: string) => Promise<unknown>;
};
type Worker = {
  registration: ServiceWorkerRegistration;
  clients: {
    matchAll: (options: { type: 'window'; includeUncontrolled: boolean }) => Promise<Window[]>;
    openWindow: (path: string) => Promise<unknown>;
  };
};
const worker = globalThis as unknown as Worker;

/** Chromium only. */
type Timed = Notification & { timestamp?: number };

/** ms within which the parts of one reply come; later ones make a sound. */
const quietMs = 30_000;

/** One notice for all replies. */
export async function notify({ title, path }: Notice): Promise<void> {
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

/** A window with the conversation first; it keeps its text. */
export async function openPage(path: string): Promise<void> {
  const windows = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const withChat = windows.find(({ url }) => isChat(url));
  const open = withChat ?? windows[0];
  try {
    if (!open) throw new Error('No window is open.');
    await open.focus();
    if (open !== withChat) await open.navigate(path);
  } catch {
    // A browser may refuse to focus or move a window.
    await worker.clients.openWindow(path);
  }
}

function isChat(url: string): boolean {
  const path = new URL(url).pathname.replace(/\/$/, '');
  const chats = languages.filter(({ tag }) => published.includes(tag));
  return chats.some((language) => path === `${language.path}/chat`);
}
