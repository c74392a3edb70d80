import { connectRouter } from './app/connect-router.ts';
import { keepCrisisLines, watchUncaughtErrors } from './app/error-screens.tsx';
import { tolerateForeignChanges } from './app/translator-patch.ts';
import { mount } from './start/mount.tsx';
import { documentMarks, rootId } from './start/protocol.ts';
import { createAppRouter } from './router.tsx';

async function run(): Promise<void> {
  // The engine is too old, or a script did not load: the page stays as it was served.
  if (documentMarks().visitor === 'unscripted') return;

  // In a shell `start/hold-app.ts` holds the app.
  await globalThis.earlyStart?.released;
  // Ends this task, so that the page can respond before the app is made.
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
