import { rmSync } from 'node:fs';
import { getRequestListener } from '@hono/node-server';
import { listen } from './listen.ts';
import { createServices } from './services.ts';
import type { SandboxSettings } from './settings.ts';

export type Sandbox = { url: string; close: () => Promise<void> };

/** Starts every local service on one port. Their state is stored in `stateDir` and survives a restart. */
export async function startSandbox(settings: SandboxSettings): Promise<Sandbox> {
  const server = await listen(settings.port);
  if (settings.reset) rmSync(settings.stateDir, { recursive: true, force: true });
  const url = `http://localhost:${server.port}`;
  const services = await createServices({ ...settings, sandboxUrl: url });
  const listener = getRequestListener(services.app.fetch, { overrideGlobalObjects: false });
  server.serve((request, response) => void listener(request, response));
  return {
    url,
    async close() {
      await server.close();
      services.close();
    },
  };
}
