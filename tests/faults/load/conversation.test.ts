import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listen, type Listening } from '../../sandbox/start.ts';
import { Choices, Person, type Message } from '../person.ts';
import { Figures, Latencies, Timeline } from '../records.ts';
import { messagesReachedBot, pagesAreWhole, recordingsAreWhole, textIsNowhere } from '../invariants/conversations.ts';
import { logOut } from './acts.ts';
import type { Rig, World } from '../rig.ts';
import { Site } from '../site.ts';
import { clearConversation, sendMessage, sendRecording } from './conversation.ts';

/**
 * A stub of the product: its live sessions, its page, the events of the bot, and what else it does when a session ends or
 * a message arrives.
 */
let server: Listening;
const live = new Set<string>();
let page: Message[] = [];
let stored: Buffer | null = null;
let botEvents: object[] = [];
let ended = () => {};
let arrived = async () => {};

type Result = [status: number, body: object | Buffer];
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
  'POST /api/user/chat/voice': (_, body) => {
    const voice = { seconds: 1, type: 'audio/ogg', bytes: stored!.length };
    page = [{ ...body, text: '', seq: 1, author: 'user', state: 'delivered', voice }];
    return [200, { message: page[0]! }];
  },
  'GET /api/user/chat/voice': () => (stored ? [200, stored] : [404, {}]),
  'POST /api/bot/voice': () => (stored ? [200, stored] : [404, {}]),
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
  [page, botEvents, stored] = [[], [], null];
  [ended, arrived] = [() => {}, async () => {}];
});

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const bytes = Buffer.concat(await request.toArray());
  const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
  const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
  const isVoice = pathname.startsWith('/api/user/chat/voice');
  if (isVoice && request.method === 'POST') stored = bytes;
  const path = isVoice ? '/api/user/chat/voice' : request.url;
  const sent = isVoice ? { id: searchParams.get('id'), text: '' } : bytes.length > 0 && JSON.parse(bytes.toString());
  const [status, body] = await respond[`${request.method} ${path}`]!(token, sent);
  response.writeHead(status).end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
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

test('a recording must reach its user and the bot byte by byte, and be gone after a clearing', async () => {
  const { world, person } = newWorld();
  await sendRecording(world, person, false);
  const sent = stored!;
  expect(await recordingsAreWhole(world)).toMatchObject({ checked: 1, broken: [] });
  stored = Buffer.from(sent).fill(0, 900, 901);
  expect(await recordingsAreWhole(world)).toMatchObject({ broken: [expect.stringContaining('other bytes')] });
  stored = null;
  expect(await recordingsAreWhole(world)).toMatchObject({ broken: [expect.stringContaining('gets 404')] });
  await clearConversation(world, person);
  expect(await recordingsAreWhole(world)).toMatchObject({ broken: [] });
  stored = sent;
  expect(await recordingsAreWhole(world)).toMatchObject({ broken: [expect.stringContaining('other bytes')] });
});

test.each([0, 1, 2])('a recording is found in a file, as it is and in base64 after %i bytes', async (before) => {
  const { world } = newWorld();
  const stateDir = mkdtempSync(join(tmpdir(), 'state-'));
  world.rig.stateDir = stateDir;
  world.marker = 'marker0123456789abcdef';
  const bytes = Buffer.from(`${'.'.repeat(before)}${world.marker} and more`);
  for (const content of [bytes, Buffer.from(bytes.toString('base64')), Buffer.from('nothing')]) {
    writeFileSync(join(stateDir, 'file'), content);
    const isHeld = content.toString() !== 'nothing';
    expect((await textIsNowhere(world)).broken).toHaveLength(isHeld ? 1 : 0);
  }
  rmSync(stateDir, { recursive: true });
});
