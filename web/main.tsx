import { applyStylesheet } from './app/deployment-change.ts';
import { mount } from './app/mount.tsx';
import { start } from './app/start-up.ts';
import { watchUncaughtErrors } from './app/error-screens.tsx';
import { createAppRouter } from './router.tsx';

async function run(): Promise<void> {
  await globalThis.earlyStart?.parts;
  const router = createAppRouter();
  start(router);
  const root = document.getElementById('root');
  await applyStylesheet();
  if (root) await mount(root, router);
}

watchUncaughtErrors();
void run();
