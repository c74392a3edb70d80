import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { createGate } from './gate.ts';
import { createLibsql } from './libsql/index.ts';
import { listen } from './listen.ts';
import { openStore } from './store.ts';
import type { SandboxSettings } from './settings.ts';

export type Sandbox = { url: string; close(): Promise<void> };

/** Starts every local service on one port. What they hold lives in `stateDir` and survives a restart. */
export async function startSandbox(settings: SandboxSettings): Promise<Sandbox> {
  const { port, stateDir, reset, secrets } = settings;
  if (reset) rmSync(stateDir, { recursive: true, force: true });
  const store = openStore(join(stateDir, 'services.db'));
  const libsql = createLibsql({ file: join(stateDir, 'solace.db'), authToken: secrets.TURSO_AUTH_TOKEN });
  const gate = createGate();

  const app = new Hono();
  app.use(
    '/libsql/*',
    gate.guard('libsql', (c, status) => c.json({ error: 'broken on request' }, status as 503)),
  );
  app.route('/libsql', libsql.app);
  app.route('/', gate.control);

  app.notFound((c) => c.json({ error: `Nothing answers ${c.req.method} ${c.req.path}` }, 404));
  app.onError((error, c) => {
    console.error(error);
    return c.json({ error: error.message }, 500);
  });

  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = await listen(port, (request, response) => void answer(request, response));
  return {
    url: `http://localhost:${server.port}`,
    async close() {
      await server.close();
      libsql.close();
      store.close();
    },
  };
}
