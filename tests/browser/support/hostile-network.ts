import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the network does to the calls whose path matches; the last rule that matches counts. */
type Rule = { path: RegExp } & (
  | { kind: 'freeze' }
  | { kind: 'refuse' }
  | { kind: 'loseResponse' }
  | { kind: 'loseEvery'; nth: number; seen: number }
  | { kind: 'buffer'; bytes: number }
  | { kind: 'delay'; ms: number }
);

/**
 * A network between the browser and the site that behaves badly on request. Each method takes the paths that it concerns,
 * and returns what ends it.
 */
export class HostileNetwork {
  readonly #site: string;
  readonly #rules: Rule[] = [];
  readonly #server = createServer((incoming, response) => this.#take(incoming, response));

  private constructor(site: string) {
    this.#site = site;
  }

  static async before(site: string): Promise<HostileNetwork> {
    const network = new HostileNetwork(site);
    network.#server.listen(0, 'localhost');
    await once(network.#server, 'listening');
    return network;
  }

  get url(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await this.#server[Symbol.asyncDispose]();
  }

  /** Nothing comes any more, also on connections that are open; none of them ends. */
  freeze(path: RegExp): () => void {
    return this.#add({ path, kind: 'freeze' });
  }

  /** The site cannot be reached. */
  refuse(path: RegExp): () => void {
    return this.#add({ path, kind: 'refuse' });
  }

  /** The call reaches the site, its response is lost. */
  loseResponse(path: RegExp): () => void {
    return this.#add({ path, kind: 'loseResponse' });
  }

  loseEvery(nth: number, path: RegExp): () => void {
    return this.#add({ path, kind: 'loseEvery', nth, seen: 0 });
  }

  /** A proxy that passes nothing on before it has so many bytes of a response, or its end. */
  buffer(bytes: number, path: RegExp): () => void {
    return this.#add({ path, kind: 'buffer', bytes });
  }

  delay(ms: number, path: RegExp): () => void {
    return this.#add({ path, kind: 'delay', ms });
  }

  #add(rule: Rule): () => void {
    this.#rules.push(rule);
    return () => void this.#rules.splice(this.#rules.indexOf(rule), 1);
  }

  #ruleOf(url: string): Rule | undefined {
    return this.#rules.findLast(({ path }) => path.test(url));
  }

  #take(incoming: IncomingMessage, response: ServerResponse): void {
    const url = incoming.url!;
    response.sendDate = false;
    const rule = this.#ruleOf(url);
    if (rule?.kind === 'refuse') return void response.destroy();
    if (rule?.kind === 'loseEvery') {
      rule.seen += 1;
      if (rule.seen % rule.nth === 0) return void response.destroy();
    }
    // A frozen call does not reach the site either.
    if (rule?.kind === 'freeze') return;
    const wait = rule?.kind === 'delay' ? rule.ms : 0;
    const { method, headers } = incoming;
    const forwarded = request(this.#site + url, { method, headers }, (found) =>
      setTimeout(() => this.#pass(url, found, response), wait),
    );
    forwarded.on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  }

  #pass(url: string, found: IncomingMessage, response: ServerResponse): void {
    const rule = this.#ruleOf(url);
    if (rule?.kind === 'loseResponse') return void response.destroy();
    const held: Buffer[] = [];
    const heldBytes = () => held.reduce((sum, { length }) => sum + length, 0);
    const isFrozen = () => this.#ruleOf(url)?.kind === 'freeze';
    const passOn = () => {
      if (!response.headersSent) response.writeHead(found.statusCode!, found.rawHeaders);
      for (const chunk of held.splice(0)) response.write(chunk);
    };
    if (rule?.kind !== 'buffer') {
      response.writeHead(found.statusCode!, found.rawHeaders);
      response.flushHeaders();
    }
    found.on('data', (chunk: Buffer) => {
      if (isFrozen()) return;
      held.push(chunk);
      const now = this.#ruleOf(url);
      if (now?.kind === 'buffer' && heldBytes() < now.bytes) return;
      passOn();
    });
    found.on('end', () => {
      if (isFrozen()) return;
      passOn();
      response.end();
    });
    found.on('error', () => !isFrozen() && response.destroy());
  }
}
