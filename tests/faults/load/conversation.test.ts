import type { IncomingMessage, ServerResponse } from 'node:http';
import { UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listen, type Listening } from '../../sandbox/start.ts';
import { Choices, Person, type Message } from '../person.ts';
import { Figures, Latencies, Timeline } from '../records.ts';
import { messagesReachedBot, pagesAreWhole } from '../invariants/conversations.ts';
import { logOut } from './acts.ts';
import type { Rig, World } from '../rig.ts';
import { Site } from '../site.ts';
import { clearConversation, sendMessage } from './conversation.ts';

/**
 * A stub of the product: its live sessions, its page, the events of the bot, and what else it does when a session ends or
 * a message arrives.
 */
let server: Listening;
const live = new Set<string>();
let page: Message[] = [];
let botEvents: object[] = [];
let ended = () => {};
let arrived = async () => {};

type Result = [status: number, body: object];
const refused: Result = [401, { code: 'unauthenticated' }];
const respond: Record<string, (token: string, body: { id: string; text: string }) => Result | Promise<Result>> = {
  'POST /api/auth/logout': (token) => {
    const known = live.delete(token);
    ended();
    return known ? [200, {}] : refused;
  },
  'GET /api/user/me': (token) => (live.has(token) ? [200, {}] : refused),
  'POST /api/auth/request-otp': () => [200, { success: true }],
  'POST /api/auth/verify-otp': () => [200, { token: newSession() }],
  'POST /api/user/chat/messages': async (token, body) => {
    if (!live.has(token)) return refused;
    const message: Message = { ...body, seq: 1, author: 'user', state: 'delivered' };
    page = [message];
    await arrived();
    return [200, { message }];
  },
  'GET /api/user/chat?limit=50': () => [200, { messages: page, hasMore: false }],
  'DELETE /api/user/chat': () => {
    page = [];
    return [200, {}];
  },
};

beforeAll(async () => {
  server = await listen(0);
  server.serve((request, response) => void handle(request, response));
});
afterAll(() => server.close());
beforeEach(() => {
  live.clear();
  [page, botEvents] = [[], []];
  [ended, arrived] = [() => {}, async () => {}];
});

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = (await request.toArray()).join('');
  const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
  const [status, body] = await respond[`${request.method} ${request.url}`]!(token, text && JSON.parse(text));
  response.writeHead(status).end(JSON.stringify(body));
}

function newSession(): string {
  const token = new UnsecuredJWT({ sid: crypto.randomUUID() }).setSubject('user').encode();
  live.add(token);
  return token;
}

/** A world with one user, who is signed in. */
function newWorld(): { world: World; person: Person } {
  const person = new Person(0, 'writer', new Choices(1));
  person.signedIn(newSession());
  person.conversation.consented = true;
  let codes = 0;
  // The phone has a new code at each look.
  const control = async (_: string, path: string) => {
    if (path.startsWith('/phones')) return Array.from({ length: (codes += 1) }, () => ({ code: '123456' }));
    return path === '/bot/events' ? botEvents : [];
  };
  const figures = new Figures();
  const never = new AbortController().signal;
  const world: World = {
    rig: { control } as unknown as Rig,
    site: new Site(`http://127.0.0.1:${server.port}`, `whsec_${btoa('secret')}`, figures),
    figures,
    latencies: new Latencies(),
    timeline: new Timeline(),
    people: [person],
    seen: [],
    botOutage: null,
    marker: 'marker',
    closing: never,
    givenUp: never,
  };
  return { world, person };
}

test('another tab sends a message while its user logs out: it is accepted in the next session', async () => {
  const { world, person } = newWorld();
  const loggedOut = new Promise<void>((resolve) => (ended = resolve));
  const leaving = logOut(world, person);
  await loggedOut;
  await sendMessage(world, person, false);
  await leaving;
  expect(world.seen).toEqual([]);
  expect(person.conversation.accepted.size).toBe(1);
});

test('a 401 in a session that its user did not end breaks an invariant', async () => {
  const { world, person } = newWorld();
  live.clear();
  await sendMessage(world, person, false);
  expect(world.seen).toEqual([expect.stringContaining('unauthenticated')]);
});

test('a clearing removes a message in flight, or the message follows it', async () => {
  for (const isStoredAgain of [false, true]) {
    const { world, person } = newWorld();
    arrived = async () => {
      const [stored] = page;
      await clearConversation(world, person);
      if (isStoredAgain) page = [stored!];
    };
    await sendMessage(world, person, false);
    expect(await pagesAreWhole(world)).toMatchObject({ broken: [] });
  }
});

test('a message that was accepted before a clearing must not be on the page', async () => {
  const { world, person } = newWorld();
  await sendMessage(world, person, false);
  const stored = page;
  await clearConversation(world, person);
  expect(await pagesAreWhole(world)).toMatchObject({ broken: [] });
  page = stored;
  expect(await pagesAreWhole(world)).toMatchObject({ broken: [expect.stringContaining('which was cleared')] });
});

test('the bot must receive a message before the clearing that removed it', async () => {
  const { world, person } = newWorld();
  await sendMessage(world, person, false);
  await clearConversation(world, person);
  const [messageId] = person.conversation.attempted;
  const message = {
    type: 'chat.message',
    timestamp: '2026-01-01T00:00:00.000Z',
    data: { phone: person.phone, messageId },
  };
  const cleared = { type: 'chat.cleared', timestamp: '2026-01-01T00:00:01.000Z', data: { phone: person.phone } };
  botEvents = [message, cleared];
  expect(await messagesReachedBot(world)).toMatchObject({ broken: [] });
  botEvents = [cleared, message];
  expect(await messagesReachedBot(world)).toMatchObject({ broken: [expect.stringContaining('after it was cleared')] });
});
