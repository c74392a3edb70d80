import { errorWords } from '#words/page-errors';
import { layoutWords } from '#words/layout';
import { loadApp } from './after-paint.ts';
import { appFile, appFileStatus, reloadOnce } from './missing-files.ts';
import { StartProblem } from './start-problem.ts';

/** How long slow data delays the app. */
const maxDelayMs = 500;
/** Until the next try, unless a connection is reported earlier. */
const retryMs = 5000;

/**
 * Holds the app of a shell until all its files are here. `main.tsx` awaits this, since each file
 * that loads may import it, and the app would start without the others.
 */
export function holdApp(filled: Promise<void>): void {
  if (globalThis.earlyStart) globalThis.earlyStart.released = release(filled);
}

/** Resolves when all files are here, and the shell is filled if this is soon. */
async function release(filled: Promise<void>): Promise<void> {
  const problem = new StartProblem();
  // Filling replaces the place of a problem that is shown already.
  const fill = filled.then(
    () => problem.render(),
    () => null,
  );
  await Promise.race([fill, wait(maxDelayMs)]);
  await untilParsed();

  await untilLoaded(problem);
  problem.hide();
}

/** Tries until every file is here. Meanwhile the page says what is wrong. */
async function untilLoaded(problem: StartProblem): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const isLoaded = await loadFiles();
    if (isLoaded) return;

    const status = await appFileStatus();
    // The server has the file: the connection may have been lost for a moment.
    if (status === 200 && attempt === 1) continue;

    // The server responds: the file is gone, or the browser remembers that it failed.
    if (status !== 0) return reloadOrGiveUp(problem);

    problem.show(errorWords.network);
    await untilConnected();
  }
}

/** Waits for the body, which follows the inline script. */
export function untilParsed(): Promise<void> {
  if (document.readyState !== 'loading') return Promise.resolve();
  return new Promise((resolve) =>
    addEventListener('DOMContentLoaded', () => resolve(), { once: true }),
  );
}

/** Loads every file, so that a later loss of the connection hurts none. Returns whether all came. */
function loadFiles(): Promise<boolean> {
  loadApp();
  // `old-engine.ts` has taken the app away.
  if (!appFile()) return Promise.resolve(true);

  const files = document.querySelectorAll<HTMLLinkElement>('link[rel=modulepreload]');
  return Promise.all([...files].map(({ href }) => import(/* @vite-ignore */ href))).then(
    () => true,
    () => false,
  );
}

function untilConnected(): Promise<unknown> {
  const online = new Promise((resolve) => addEventListener('online', resolve, { once: true }));
  return Promise.race([wait(retryMs), online]);
}

/** Reloads the page, or says that something is wrong. It never resolves. */
function reloadOrGiveUp(problem: StartProblem): Promise<never> {
  const isReloading = !hasTyped() && reloadOnce();
  if (!isReloading) problem.show(layoutWords.wrong);
  return new Promise(() => {});
}

/** Whether somebody has typed into the shell, which keeps no text yet. */
const hasTyped = () => document.querySelector('textarea')?.value;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
