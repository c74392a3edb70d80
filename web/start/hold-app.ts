import { errorWords } from '#words/page-errors';
import { layoutWords } from '#words/layout';
import * as timeLimits from '../data/time-limits.ts';
import { fetchInTime } from '../data/fetch-in-time.ts';
import { loadApp } from './after-paint.ts';
import { appLink } from './protocol.ts';
import { StartProblem } from './start-problem.ts';

/** ms for which slow data delays the app. */
const maxDelay = 500;
/** ms, unless a connection is reported earlier. */
const retryAfter = 5000;

/**
 * Holds the app of a shell: `main.tsx` waits, since each file that loads may
 * import it, and it would start without the others.
 */
export function holdApp(filled: Promise<void>): void {
  if (globalThis.earlyStart) globalThis.earlyStart.released = release(filled);
}

/** Resolves when all files are here, and the shell is filled if this is soon. */
async function release(filled: Promise<void>): Promise<void> {
  const problem = new StartProblem();
  const fill = filled.then(
    () => problem.render(),
    () => null,
  );
  await Promise.race([fill, wait(maxDelay)]);
  await parsed();

  for (let attempt = 1; !(await hasFiles()); attempt += 1) {
    const status = await statusOf(appFile());
    if (status === 200 && attempt === 1) continue;
    // The server responds: a deployment has removed the file.
    if (status !== 0) await reloadOrGiveUp(problem);

    problem.show(errorWords.network);
    await connection();
  }
  problem.hide();
}

/** Waits for the body, which follows the inline script. */
export function parsed(): Promise<void> {
  if (document.readyState !== 'loading') return Promise.resolve();
  return new Promise((resolve) =>
    addEventListener('DOMContentLoaded', () => resolve(), { once: true }),
  );
}

const appFile = () => appLink()?.href ?? '';

/** Loads every file, so that a later loss of the connection hurts none. */
function hasFiles(): Promise<boolean> {
  loadApp();
  // `old-engine.ts` has taken the app away.
  if (!appFile()) return Promise.resolve(true);

  const files = document.querySelectorAll<HTMLLinkElement>('link[rel=modulepreload]');
  return Promise.all([...files].map(({ href }) => import(/* @vite-ignore */ href))).then(
    () => true,
    () => false,
  );
}

/** Returns 0 without a connection. */
async function statusOf(file: string): Promise<number> {
  const response = await fetchInTime(file, timeLimits.reading, {
    method: 'HEAD',
    cache: 'no-store',
  });
  return typeof response === 'string' ? 0 : response.status;
}

function connection(): Promise<unknown> {
  const online = new Promise((resolve) => addEventListener('online', resolve, { once: true }));
  return Promise.race([wait(retryAfter), online]);
}

/** Reloads the page once, which brings the present files: a second time would not help. It never resolves. */
function reloadOrGiveUp(problem: StartProblem): Promise<never> {
  const { state } = history;
  if (hasTyped() || state?.wasReloaded) problem.show(layoutWords.wrong);
  else {
    history.replaceState({ ...state, wasReloaded: true }, '');
    location.reload();
  }
  return new Promise(() => {});
}

/** Whether somebody has typed into the shell, which keeps no text yet. */
const hasTyped = () => document.querySelector('textarea')?.value;

const wait = (time: number) => new Promise((resolve) => setTimeout(resolve, time));
