import { createServer, request, Agent, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The header that tells the tests of a worker apart. */
export const clientHeader = 'cf-connecting-ip';

/** The built site with a stub in place of its API. A server needs no interception, so the browser's cache works. */
export class StubServer {
  readonly #site: string;
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #handlers = new Map<string, Handler>();

  private constructor(site: string) {
    this.#site = site;
    this.#server = createServer((incoming, response) => void this.#take(incoming, response));
  }

  static async start(site: string): Promise<StubServer> {
    const server = new StubServer(site);
    await new Promise<void>((resolve) => server.#server.listen(0, 'localhost', resolve));
    return server;
  }

  get url(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The API of one test; calls of tests that have ended are dropped. */
  handle(client: string, handler: Handler): () => void {
    this.#handlers.set(client, handler);
    return () => void this.#handlers.delete(client);
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!/^\/(api|auth\/verify-trial-token)(\/|\?|$)/.test(incoming.url!)) return this.#forward(incoming, response);
    const handler = this.#handlers.get(String(incoming.headers[clientHeader]));
    if (handler) await handler(incoming, response);
    else incoming.destroy();
  }

  #forward(incoming: IncomingMessage, response: ServerResponse): void {
    const { method, headers, url } = incoming;
    const forwarded = request(this.#site + url, { method, headers, agent: this.#agent }, (found) => {
      response.writeHead(found.statusCode!, found.rawHeaders);
      found.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    incoming.pipe(forwarded);
  }
}
