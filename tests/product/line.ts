import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { PassThrough, type Transform } from 'node:stream';

/** What happens to one exchange. Without a treatment it passes as it is. */
export type Treatment = {
  /** The request waits for this before it is passed on. */
  before?: Promise<unknown>;
  /** The response waits for this, after the server has done its work. */
  after?: Promise<unknown>;
  /** Comes to nothing: `request` before the server has seen it, `response` after the server has done its work. */
  lost?: 'request' | 'response';
  /** What the body of the response passes through. */
  body?: Transform;
};

export type Weather = (path: string, incoming: IncomingMessage) => Treatment | null | undefined;

/** A browser repeats a request whose connection is closed without a word, and drops this response. */
const unusable = 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n';

function lose({ socket }: IncomingMessage): void {
  socket.end(unusable);
}

const calm: Weather = () => null;

/**
 * A line to the site, on which a test makes the weather. It serves the site at its own address, and it is an HTTP proxy
 * for a browser that shall see the site at the site's address.
 */
export async function startLine(site: string) {
  let weather = calm;
  const sockets = new Set<Socket>();
  let isCut = false;

  const pass = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(incoming.url!, site);
    const { before, after, lost, body } = weather(url.pathname, incoming) ?? {};
    await before;
    if (lost === 'request') return lose(incoming);

    const found = await forward(incoming, url);
    await after;
    if (lost === 'response') return lose(incoming);

    response.writeHead(found.statusCode!, found.rawHeaders);
    response.flushHeaders();
    found.on('error', () => response.destroy());
    found.pipe(body ?? new PassThrough()).pipe(response);
    response.on('close', () => found.destroy());
  };

  const server = createServer((incoming, response) => {
    pass(incoming, response).catch(() => incoming.socket.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    if (isCut) socket.destroy();
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    /** Treats every exchange that begins from now on. */
    set: (next: Weather | null) => {
      weather = next ?? calm;
    },
    /** Ends every connection and accepts no other, until it is mended. */
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend: () => {
      isCut = false;
    },
    async close() {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}

export type Line = Awaited<ReturnType<typeof startLine>>;

function forward(incoming: IncomingMessage, url: URL): Promise<IncomingMessage> {
  const { method, headers } = incoming;
  const forwarded = request(url, { method, headers });
  incoming.pipe(forwarded);
  return new Promise((resolve, reject) => {
    forwarded.on('response', resolve);
    forwarded.on('error', reject);
    incoming.on('close', () => incoming.complete || forwarded.destroy());
  });
}
