import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Running } from './workerd.ts';

/** A bot that accepts every event; it runs in the process that measures, and does nothing else. */
export async function startBot(): Promise<Running> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200).end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pid: process.pid, stop };
}
