import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on 127.0.0.1 and ::1, since callers use `localhost`. Port 0 selects a free one. */
export async function listen(port: number) {
  const first = await open(port, '127.0.0.1');
  const taken = (first.address() as AddressInfo).port;
  const second = await open(taken, '::1').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT') return null;
    await close(first);
    throw error;
  });
  const servers = second ? [first, second] : [first];
  const { promise: listener, resolve: serve } = Promise.withResolvers<RequestListener>();
  for (const server of servers)
    server.on(
      'request',
      (request, response) => void listener.then((respond) => respond(request, response)),
    );
  return {
    port: taken,
    /** Requests that came before wait for it. */
    serve,
    close: async () => void (await Promise.all(servers.map(close))),
  };
}

async function open(port: number, host: string): Promise<Server> {
  const server = createServer({ keepAliveTimeout: 60_000 }).listen({
    port,
    host,
  });
  await once(server, 'listening');
  return server;
}

function close(server: Server): Promise<unknown> {
  return new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
}
