import { applyStylesheet } from './app/apply-stylesheet.ts';
import { mount } from './app/mount.tsx';
import { start } from './app/start.ts';
import { watchUncaughtErrors } from './app/uncaught-error.ts';
import { createAppRouter } from './router.tsx';

watchUncaughtErrors();
const router = createAppRouter();
start(router);

const root = document.getElementById('root');
if (root) void applyStylesheet().then(() => mount(root, router));
