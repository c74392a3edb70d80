import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, json } from 'node:stream/consumers';
import type { Page } from 'playwright/test';
import { type EndpointName, endpoints } from '../../../worker/contract/endpoints.ts';

type Reply = (call: Call, response: ServerResponse) => Promise<void> | void;
type Recording = { type: string; bytes: Buffer };
export type Call = Pick<IncomingMessage, 'method' | 'headers'> & {
  name: EndpointName;
  path: string;
  search: URLSearchParams;
  body: unknown;
  token: string | undefined;
};

/** The origin of the payment provider's pages in responses. */
export const elsewhere = 'https://payments.example';

/** The revision of a conversation before the messages of a stream. */
export const firstRevision = 100;

/** The browser drops this response. It would repeat a call whose connection is closed without a word. */
const unusable = 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n';

/** The response to a call of a session that has ended. */
export const over = {
  success: false,
  code: 'unauthenticated',
  message: 'Over.',
};

/** A stub of the API, for states that the real product cannot reach in a test. */
export class Stub {
  readonly #page: Page;
  readonly #expectedErrors: RegExp[];
  readonly #replies = new Map<EndpointName, Reply>();
  readonly #calls: Call[] = [];
  #person: Person = {};
  /** The time that each response says (ISO 8601); by default the page has to do with that of its device. */
  serverTime: () => string | null = () => null;

  constructor(page: Page, expectedErrors: RegExp[]) {
    this.#page = page;
    this.#expectedErrors = expectedErrors;
    this.person({});
    this.respond('getCountry', { success: true, country: null });
    this.respond('getSafety', referralsOf(2025, 0, 0));
    this.respond('logout', { success: true });
    this.respond('getPlatform', { success: true, platform: 'whatsapp' });
    this.respond('getSubscription', {
      success: true,
      subscription: null,
    });
    this.respond('getWithdrawal', {
      success: true,
      contract: null,
      statement: null,
    });
    this.respond('getWithdrawalForm', { success: true, email: false });
    this.respond('getPush', { success: false, code: 'not_found', message: 'Not found' }, 404);
    this.respond('streamTicket', {
      success: true,
      ticket: 'ticket',
      expiresIn: 60,
    });
    this.respond('requestOtp', {
      success: true,
      requiresInitialContact: false,
      challenge: 'challenge',
    });
    this.respond('codeState', { success: true, state: 'sent' });
    this.hold('usageStream');
    // A chat whose stream has not opened says after a while that it connects again, which moves its composer.
    this.openStream('chatStream');
  }

  /** Responds with a JSON body; an intended failure does not fail the test. */
  respond(name: EndpointName, body: object | string, status = 200, headers: object = {}): void {
    if (status >= 400) this.#expectedErrors.push(new RegExp(`status of ${status}|^${status} http`));
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    this.#replies.set(name, (_, response) => {
      for (const [header, value] of Object.entries(headers)) response.setHeader(header, value);
      sendJson(response, status, text);
    });
  }

  /** Responds to each token with its own body; null responds 401, as for an ended session. */
  respondByToken(name: EndpointName, bodies: Record<string, object | null>): void {
    this.#replies.set(name, (call, response) => {
      const body = bodies[tokenOf(call)] ?? null;
      sendJson(response, body ? 200 : 401, JSON.stringify(body ?? over));
    });
  }

  /** Sets the profile of `GET /api/user/me`. */
  person(person: Person): void {
    this.#person = person;
    this.respond('getMe', { success: true, profile: profileOf(person) });
  }

  /** Lets calls fail, as without a network. */
  disconnect(name: EndpointName): void {
    this.#expectedErrors.push(/net::ERR_RESPONSE_HEADERS/);
    this.#replies.set(name, (_, response) => void response.socket?.end(unusable));
  }

  /** Holds the responses of calls, or of those with one token, until the returned function is called. */
  hold(name: EndpointName, token?: string): () => void {
    const before = this.#replies.get(name) ?? (async () => {});
    const { promise, resolve } = Promise.withResolvers<void>();
    const held: Reply = async (call, response) => {
      if (token && tokenOf(call) !== token) return before(call, response);
      await promise;
      return this.#replies.get(name)!(call, response);
    };
    this.#replies.set(name, held);
    return () => {
      if (this.#replies.get(name) === held) this.#replies.set(name, before);
      resolve();
    };
  }

  /**
   * Opens every stream of this name with these events, and keeps it open. The returned function sends another event on
   * the open streams; what is sent before there is one comes with the first. A later one opens with the newest count.
   */
  openStream(
    name: 'usageStream' | 'chatStream',
    events: object[] = [],
    opening?: object,
  ): (event: object) => void {
    const streams = new Set<ServerResponse>();
    let revision = firstRevision;
    const frame = (event: { type?: string; named?: string }) => {
      const { named, ...data } = event;
      if (named) return `event: ${named}\ndata: ${JSON.stringify(data)}\n\n`;
      const id = 'message' in event || event.type === 'cleared' ? `id: ${(revision += 1)}\n` : '';
      return `${id}data: ${JSON.stringify(event)}\n\n`;
    };
    let used: { used?: number } = {};
    const first = () => {
      const data = opening ?? {
        profile: profileOf({
          ...this.#person,
          ...used,
        }),
      };
      return `event: connection_established\ndata: ${JSON.stringify(data)}\n\n${events.map(frame).join('')}`;
    };
    let early = '';
    this.#replies.set(name, (_, response) => {
      streams.add(response.on('close', () => streams.delete(response)));
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(first() + early);
      early = '';
    });
    return (event) => {
      if ('count' in event) used = { used: Number(event.count) };
      const sent = frame(event);
      if (streams.size === 0) early += sent;
      for (const response of streams) response.write(sent);
    };
  }

  /** Accepts recordings as the server does, and returns them. */
  keepRecordings(): void {
    const kept = new Map<string, Recording>();
    this.#replies.set('sendVoice', ({ search, body }, response) => {
      const [id, recording] = [search.get('id')!, body as Recording];
      kept.set(id, recording);
      const voice = {
        seconds: Number(search.get('seconds')),
        type: recording.type,
        bytes: recording.bytes.length,
      };
      const at = new Date().toISOString();
      const message = {
        id,
        seq: 1000 + kept.size,
        author: 'user',
        text: '',
        at,
        state: 'sent',
        voice,
      };
      sendJson(response, 200, JSON.stringify({ success: true, message }));
    });
    this.#replies.set('getVoice', ({ path }, response) => {
      const { type, bytes } = kept.get(path.split('/').at(-1)!)!;
      response.writeHead(200, { 'content-type': type }).end(bytes);
    });
  }

  /** The calls of one endpoint, or all. */
  calls(name?: EndpointName): Call[] {
    return this.#calls.filter((call) => !name || call.name === name);
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
  async take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, searchParams: search } = new URL(incoming.url!, 'http://stub');
    const name = nameOf(incoming.method!, path);
    if (!name) return sendJson(response, 404, '{}');
    const { method, headers } = incoming;
    const call = {
      name,
      method,
      path,
      search,
      headers,
      body: await bodyOf(incoming),
      token: headers.authorization,
    };
    this.#calls.push(call);
    response.sendDate = false;
    const now = this.serverTime();
    if (now) response.setHeader('date', new Date(now).toUTCString());
    const reply = this.#replies.get(name);
    if (!reply) return sendJson(response, 500, `The test says nothing about ${name}`);
    await reply(call, response);
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<unknown> {
  if (Number(incoming.headers['content-length'] ?? 0) === 0) return null;
  const type = String(incoming.headers['content-type']);
  return type.startsWith('audio/')
    ? {
        type,
        bytes: await buffer(incoming),
      }
    : json(incoming);
}

const tokenOf = (call: Call) => (call.token ?? '').replace('Bearer ', '');

/** The response to `GET /api/safety`. */
export function referralsOf(year: number, lastTotal: number, total: number): object {
  const referrals = {
    lastYear: { year: year - 1, total: lastTotal },
    thisYear: { year, total },
  };
  return { success: true, referrals };
}

/** Shows a page for every address at the payment provider. */
export async function servePayments(page: Page): Promise<void> {
  const body = '<h1>Payments</h1>';
  await page.context().route(`${elsewhere}/**`, (route) =>
    route.fulfill({
      contentType: 'text/html',
      body,
    }),
  );
}

function sendJson(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

/** A part of a path that begins with a colon stands for any value. */
function nameOf(method: string, path: string): EndpointName | undefined {
  const names = Object.keys(endpoints) as EndpointName[];
  return names.find((name) => {
    const pattern = new RegExp(`^${endpoints[name].path.replaceAll(/:\w+/g, '[^/]+')}$`);
    return endpoints[name].method === method && pattern.test(path);
  });
}

/** The header that tells the tests of a worker apart. */
export const clientHeader = 'cf-connecting-ip';

type Handler = (incoming: IncomingMessage, response: ServerResponse) => Promise<void>;
export type StubServer = Awaited<ReturnType<typeof startStubServer>>;

type File = { status: number; rawHeaders: string[]; body: Buffer };

async function fetchFile(url: string, { method, headers }: IncomingMessage): Promise<File> {
  const [found] = (await once(
    request(url, {
      method,
      headers,
    }).end(),
    'response',
  )) as [IncomingMessage];
  return {
    status: found.statusCode!,
    rawHeaders: found.rawHeaders,
    body: await buffer(found),
  };
}

/**
 * Serves the built site with a stub in place of its API. It intercepts nothing, so the browser's cache works. The site
 * does not change, so each of its files is fetched once.
 */
export async function startStubServer(site: string) {
  const handlers = new Map<string, Handler>();
  const files = new Map<string, Promise<File>>();
  const forward = (incoming: IncomingMessage, response: ServerResponse) => {
    const { method, url, headers } = incoming;
    const names = ['accept-encoding', 'if-none-match', 'sec-fetch-mode'];
    const key = JSON.stringify([method, url, ...names.map((name) => headers[name])]);
    const file = files.get(key) ?? fetchFile(site + url, incoming);
    files.set(key, file);
    file.then(
      ({ status, rawHeaders, body }) => response.writeHead(status, rawHeaders).end(body),
      () => {
        files.delete(key);
        response.destroy();
      },
    );
  };
  const server = createServer((incoming, response) => {
    if (!/^\/(api|auth\/verify-trial-token)(\/|\?|$)/.test(incoming.url!))
      return forward(incoming, response);
    const handler = handlers.get(String(incoming.headers[clientHeader]));
    // A page that closes ends a call in the middle of its body; any other error must fail the test.
    handler?.(incoming, response).catch(
      (error: unknown) => incoming.complete && Promise.reject(error),
    );
  }).listen(0, 'localhost');
  await once(server, 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    /** The APIs of tests by the addresses of their browsers. An ended test gets no response: its pages close. */
    handlers,
    async close() {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}

type Text = string | null;
const freeUser = {
  phoneNumber: '+15551234567' as Text,
  status: 'approved',
  isTrial: false,
  used: 0,
  tier: 'free' as Text,
  subscriptionStatus: 'active' as Text,
  renewalDate: null as Text,
  cancelAtDate: null as Text,
  scheduled: null as Text,
  resetsAt: null as Text,
};

export type Person = Partial<typeof freeUser>;

/** A profile in the format of `GET /api/user/me`, also in states that no server would return. */
export function profileOf(person: Person = {}): object {
  const { phoneNumber, status, isTrial, used, tier, scheduled, ...facts } = {
    ...freeUser,
    ...person,
  };
  const messagesUsedThisPeriod = used;
  const metadata = {
    ...facts,
    subscriptionTier: tier,
    messagesUsedThisPeriod,
    scheduledDowngradeTierId: scheduled,
  };
  return {
    phoneNumber,
    status,
    isTrial,
    messagesUsedThisPeriod,
    metadata,
  };
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** An unsigned three-part token; the page reads its claims, the stub accepts any token. */
export const jwt = (claims: object) => `${encoded({ alg: 'HS256' })}.${encoded(claims)}.c2lnbmVk`;
