import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Serves this machine alone, under 127.0.0.1 and ::1, since callers say `localhost`. Port 0 takes a free one. */
export async function listen(
  port: number,
  listener: RequestListener,
): Promise<{ port: number; close(): Promise<void> }> {
  const first = await open(listener, port, '127.0.0.1');
  const taken = (first.address() as AddressInfo).port;
  const second = await open(listener, taken, '::1').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT') return null;
    await close(first);
    throw error;
  });
  return {
    port: taken,
    close: async () => void (await Promise.all([close(first), second && close(second)])),
  };
}

function open(listener: RequestListener, port: number, host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ keepAliveTimeout: 60_000 }, listener);
    server.once('error', reject);
    server.listen({ port, host, ipv6Only: true }, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
