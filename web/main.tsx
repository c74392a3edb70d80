import { connectRouter } from './app/connect-router.ts';
import { keepCrisisLines, watchUncaughtErrors } from './app/error-screens.tsx';
import { tolerateForeignChanges } from './app/translator-patch.ts';
import { mount } from './start/mount.tsx';
import { documentMarks, rootId } from './start/protocol.ts';
import { createAppRouter } from './router.tsx';

async function run(): Promise<void> {
  // An engine that is too old.
  if (documentMarks().visitor === 'unscripted') return;
  await globalThis.earlyStart?.released;
  // Two tasks, between which the page responds.
  await globalThis.scheduler?.yield?.();
  const router = createAppRouter();
  connectRouter(router);
  const root = document.getElementById(rootId);
  if (root) await mount(root, router);
  await navigator.serviceWorker?.register('/sw.js').catch(() => null);
}

tolerateForeignChanges();
watchUncaughtErrors();
keepCrisisLines();
void run();
