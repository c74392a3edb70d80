import { externalToken } from './external-token.ts';
import { watchErrors } from './frame/uncaught-error.ts';
import { show } from './prerender/show.tsx';
import { createAppRouter } from './router.tsx';
import { start } from './start.ts';

watchErrors();
externalToken.collect();
const router = createAppRouter();
start(router);

const root = document.getElementById('root');
if (root) void show(root, router);
