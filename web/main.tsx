import { applyStylesheet } from './app/apply-stylesheet.ts';
import { mount } from './app/mount.tsx';
import { start } from './app/start.ts';
import { watchUncaughtErrors } from './app/uncaught-error.ts';
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
