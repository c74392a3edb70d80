import { Agent, createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, json } from 'node:stream/consumers';
import type { Page } from 'playwright/test';
import type { ChatStreamEvent } from '../../../worker/contract/chat-schemas.ts';
import type { StreamMessage } from '../../../worker/contract/usage-stream.ts';
import { isUsage } from '../../../web/rules/stream-events.ts';
import { type Endpoint, type EndpointName, endpoints } from '../../../worker/contract/endpoints.ts';

type LiveEvent = ChatStreamEvent | StreamMessage;
type Reply = (call: Call, response: ServerResponse) => Promise<void> | void;
type Call = {
  name: EndpointName;
  path: string;
  search: URLSearchParams;
  /** A recording as its bytes. */
  body: unknown;
  token: string | undefined;
};

/** The origin of the payment provider's pages in responses. */
export const elsewhere = 'https://payments.example';

/** The browser drops this response. It would repeat a call whose connection is closed without a word. */
const unusable = 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n';

/** A stub of the API, for states that the real product cannot reach in a test. */
export class Stub {
  readonly #page: Page;
  readonly #expectedErrors: RegExp[];
  readonly #replies = new Map<EndpointName, Reply>();
  readonly #calls: Call[] = [];

  constructor(page: Page, expectedErrors: RegExp[]) {
    this.#page = page;
    this.#expectedErrors = expectedErrors;
    this.person({});
    this.respond('getCountry', { success: true, country: null });
    this.respond('getSafety', referralsOf(2025, 0, 0));
    this.respond('logout', { success: true });
    this.respond('getPlatform', { success: true, platform: 'whatsapp' });
    this.respond('getSubscription', { success: true, subscription: null });
    this.respond('getPush', { success: false, code: 'not_found', message: 'Not found' }, 404);
    this.respond('streamTicket', { success: true, ticket: 'ticket', expiresIn: 60 });
    this.respond('requestOtp', { success: true, requiresInitialContact: false, challenge: 'challenge' });
    this.hold('usageStream');
    this.hold('chatStream');
  }

  /** Responds with a JSON body; an intended failure does not fail the test. */
  respond(name: EndpointName, body: object | string, status = 200): void {
    if (status >= 400) this.#expectedErrors.push(new RegExp(`status of ${status}|^${status} http`));
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    this.#replies.set(name, (_, response) => sendJson(response, status, text));
  }

  /** Responds to each token with its own body; null responds 401, as for an ended session. */
  respondByToken(name: EndpointName, bodies: Record<string, object | null>): void {
    this.#replies.set(name, (call, response) => {
      const body = bodies[tokenOf(call)] ?? null;
      sendJson(response, body ? 200 : 401, JSON.stringify(body ?? {}));
    });
  }

  /** Holds the calls of one token; see `hold`. */
  holdToken(name: EndpointName, token: string): () => void {
    const reply = this.#replies.get(name)!;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#replies.set(name, async (call, response) => {
      if (tokenOf(call) === token) await promise;
      return reply(call, response);
    });
    return resolve;
  }

  /** Sets the profile of `GET /api/user/me`. */
  person(person: Person): void {
    this.respond('getMe', { success: true, profile: profileOf(person) });
  }

  /** Lets calls fail, as without a network. */
  disconnect(name: EndpointName): void {
    this.#expectedErrors.push(/net::ERR_RESPONSE_HEADERS/);
    this.#replies.set(name, (_, response) => void response.socket?.end(unusable));
  }

  /** Holds the responses of calls until the returned function is called. */
  hold(name: EndpointName): () => void {
    const before = this.#replies.get(name) ?? (async () => {});
    const { promise, resolve } = Promise.withResolvers<void>();
    const held: Reply = async (call, response) => {
      await promise;
      return this.#replies.get(name)!(call, response);
    };
    this.#replies.set(name, held);
    return () => {
      if (this.#replies.get(name) === held) this.#replies.set(name, before);
      resolve();
    };
  }

  /** Sends these messages on every usage stream, after the data of its first event; without messages it stays open. */
  stream(messages: object[], opening: object = {}): void {
    const events = messages.map((message) => `data: ${JSON.stringify(message)}\n\n`);
    this.#replies.set('usageStream', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: connection_established\ndata: ${JSON.stringify(opening)}\n\n${events.join('')}`);
      if (events.length > 0) response.end();
    });
  }

  /**
   * Sends these events on every chat stream, which stays open; those of the conversation have one revision. The returned
   * function sends another event on the open streams; what is sent before there is one comes with the first.
   */
  chatStream(revision: number, ...events: LiveEvent[]): (event: LiveEvent, revision: number) => void {
    const streams = new Set<ServerResponse>();
    const early: string[] = [];
    const frame = (event: LiveEvent, at: number) =>
      `${isUsage(event) ? '' : `id: ${at}\n`}data: ${JSON.stringify(event)}\n\n`;
    this.#replies.set('chatStream', (_, response) => {
      streams.add(response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const said = [...events.map((event) => frame(event, revision)), ...early.splice(0)].join('');
      response.write(`event: connection_established\ndata: {}\n\n${said}`);
    });
    return (event, at) => {
      if (streams.size === 0) early.push(frame(event, at));
      for (const response of streams) response.write(frame(event, at));
    };
  }

  /** Accepts recordings as the server does, and returns them. */
  keepRecordings(): void {
    const kept = new Map<string, { type: string; bytes: Buffer }>();
    this.#replies.set('sendVoice', ({ search, body }, response) => {
      const [id, recording] = [search.get('id')!, body as { type: string; bytes: Buffer }];
      kept.set(id, recording);
      const voice = { seconds: Number(search.get('seconds')), type: recording.type, bytes: recording.bytes.length };
      const at = new Date().toISOString();
      const message = { id, seq: 1000 + kept.size, author: 'user', text: '', at, state: 'sent', voice };
      sendJson(response, 200, JSON.stringify({ success: true, message }));
    });
    this.#replies.set('getVoice', ({ path }, response) => {
      const recording = kept.get(path.split('/').at(-1)!);
      if (!recording) return sendJson(response, 404, '{}');
      response.writeHead(200, { 'content-type': recording.type }).end(recording.bytes);
    });
  }

  calls(name: EndpointName): Call[] {
    return this.#calls.filter((call) => call.name === name);
  }

  /** Starts with a stored token. */
  async signedIn(person: Person = {}, token = 'e2e-token'): Promise<void> {
    this.person(person);
    await this.#page.addInitScript((stored) => {
      if (!location.protocol.startsWith('http')) return;
      // Before the first page only, so that a test sees the token's removal.
      if (!sessionStorage.getItem('begun')) localStorage.setItem('authToken', stored);
      sessionStorage.setItem('begun', 'yes');
    }, token);
  }

  /** Replies to a call of any page of the test. */
  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, searchParams: search } = new URL(request.url!, 'http://stub');
    const name = nameOf(request.method!, path);
    if (!name) return sendJson(response, 404, '{}');
    const call = { name, path, search, body: await bodyOf(request), token: request.headers.authorization };
    this.#calls.push(call);
    const reply = this.#replies.get(name);
    if (!reply) return sendJson(response, 500, `The test says nothing about ${name}`);
    await reply(call, response);
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) === 0) return null;
  const type = String(request.headers['content-type']);
  return type.startsWith('audio/') ? { type, bytes: await buffer(request) } : json(request);
}

const tokenOf = (call: Call) => (call.token ?? '').replace('Bearer ', '');

/** The response to `GET /api/safety`. */
export function referralsOf(year: number, lastTotal: number, total: number): object {
  const referrals = { lastYear: { year: year - 1, total: lastTotal }, thisYear: { year, total } };
  return { success: true, referrals };
}

/** Shows a page for every address at the payment provider. */
export async function servePayments(page: Page): Promise<void> {
  const body = '<h1>Payments</h1>';
  await page.context().route(`${elsewhere}/**`, (route) => route.fulfill({ contentType: 'text/html', body }));
}

function sendJson(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

function nameOf(method: string, path: string): EndpointName | undefined {
  const entries = Object.entries(endpoints) as [EndpointName, Endpoint][];
  return entries.find(([, endpoint]) => endpoint.method === method && matches(endpoint.path, path))?.[0];
}

/** A part of a path that begins with a colon stands for any value. */
function matches(pattern: string, path: string): boolean {
  const [parts, values] = [pattern.split('/'), path.split('/')];
  return parts.length === values.length && parts.every((part, index) => part.startsWith(':') || part === values[index]);
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

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

/** The facts about the signed-in user; by default an approved free user. */
export type Person = {
  phoneNumber?: string | null;
  status?: string | null;
  isTrial?: boolean;
  used?: number;
  tier?: string | null;
  subscriptionStatus?: string | null;
  renewalDate?: string | null;
  cancelAtDate?: string | null;
  scheduled?: string | null;
};

/** A profile in the format of `GET /api/user/me`, also in states that no server would return. */
export function profileOf({ tier = 'free', used = 0, scheduled = null, ...facts }: Person = {}): object {
  const { renewalDate = null, cancelAtDate = null, subscriptionStatus = 'active' } = facts;
  return {
    phoneNumber: facts.phoneNumber === undefined ? '+15551234567' : facts.phoneNumber,
    status: facts.status ?? 'approved',
    isTrial: facts.isTrial ?? false,
    messagesUsedThisPeriod: used,
    metadata: {
      subscriptionTier: tier,
      messagesUsedThisPeriod: used,
      subscriptionStatus,
      renewalDate,
      cancelAtDate,
      scheduledDowngradeTierId: scheduled,
    },
  };
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** An unsigned three-part token; the page reads its claims, the stub accepts any token. */
export const jwt = (claims: object, kid = 'k') => `${encoded({ alg: 'HS256', kid })}.${encoded(claims)}.c2lnbmVk`;
