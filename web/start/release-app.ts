import { errorWords } from '#words/page-errors';
import { layoutWords } from '#words/layout';
import * as timeLimits from '../data/time-limits.ts';
import { send } from '../data/send.ts';
import { appLink, heldApp } from './protocol.ts';
import { StartNotice } from './start-notice.ts';

/** ms for which slow data delays the app. */
const maxDelay = 500;
/** ms, unless a connection is reported earlier. */
const retryAfter = 5000;

/** Starts the app of a shell when all its parts are here, after the shell is filled if this is soon. */
export async function releaseApp(filled: Promise<void>): Promise<void> {
  const release = holdApp();
  const notice = new StartNotice();
  const fill = filled.then(
    () => notice.render(),
    () => null,
  );
  await Promise.race([fill, wait(maxDelay)]);
  await parsed();

  for (let attempt = 1; !(await hasParts()); attempt += 1) {
    const status = await statusOf(appFile());
    if (status === 200 && attempt === 1) continue;
    // The server responds: a deployment has removed the file.
    if (status !== 0) return reloadOrGiveUp(notice);

    notice.show(errorWords.network);
    await connection();
  }
  notice.hide();
  release();
}

/** Lets `main.tsx` wait: a part may import it, and it would start without the others. */
function holdApp(): () => void {
  let release = () => {};
  const parts = new Promise<void>((resolve) => (release = resolve));
  if (globalThis.earlyStart) globalThis.earlyStart.parts = parts;
  return release;
}

/** Waits for the body, which follows the inline script. */
export function parsed(): Promise<void> {
  if (document.readyState !== 'loading') return Promise.resolve();
  return new Promise((resolve) =>
    addEventListener('DOMContentLoaded', () => resolve(), { once: true }),
  );
}

const appFile = () => appLink()?.href ?? '';

/** Loads every part, so that a later loss of the connection hurts none. */
function hasParts(): Promise<boolean> {
  // `after-paint.ts` may still wait for a paint.
  const held = heldApp();
  if (held) document.head.append(held.content);
  // In too old an engine the app stays in its template.
  if (!appFile()) return Promise.resolve(true);

  const parts = document.querySelectorAll<HTMLLinkElement>('link[rel=modulepreload]');
  return Promise.all([...parts].map(({ href }) => import(/* @vite-ignore */ href))).then(
    () => true,
    () => false,
  );
}

/** Returns 0 without a connection. */
async function statusOf(file: string): Promise<number> {
  const request = { method: 'HEAD', cache: 'no-store' } as const;
  const response = await send(file, timeLimits.reading, request);
  return typeof response === 'string' ? 0 : response.status;
}

function connection(): Promise<unknown> {
  const online = new Promise((resolve) => addEventListener('online', resolve, { once: true }));
  return Promise.race([wait(retryAfter), online]);
}

/** Reloads the page once, which brings the present files: a second time would not help. */
function reloadOrGiveUp(notice: StartNotice): void {
  const { state } = history;
  if (hasTyped() || state?.wasReloaded) return notice.show(layoutWords.wrong);
  history.replaceState({ ...state, wasReloaded: true }, '');
  location.reload();
}

/** Whether somebody has typed into the shell, which keeps no text yet. */
const hasTyped = () => document.querySelector('textarea')?.value;

const wait = (time: number) => new Promise((resolve) => setTimeout(resolve, time));
