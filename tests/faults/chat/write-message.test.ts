import type { IncomingMessage, ServerResponse } from 'node:http';
import { UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listen, type Listening } from '../../sandbox/listen.ts';
import { Choices } from '../choices.ts';
import { Figures } from '../figures.ts';
import { Latencies } from '../latencies.ts';
import { logOut } from '../load/log-out.ts';
import { Person } from '../person.ts';
import type { Rig } from '../rig.ts';
import { Site } from '../site.ts';
import { Timeline } from '../timeline.ts';
import type { World } from '../world.ts';
import { sendMessage } from './write-message.ts';

let server: Listening;
/** The tokens that the stub of the product accepts, and what it does when a session ends. */
const live = new Set<string>();
let ended = () => {};

const respond: Record<string, (token: string, body: { id: string; text: string }) => [number, object]> = {
  '/api/auth/logout': (token) => {
    const known = live.delete(token);
    ended();
    return known ? [200, {}] : [401, { code: 'unauthenticated' }];
  },
  '/api/user/me': (token) => (live.has(token) ? [200, {}] : [401, { code: 'unauthenticated' }]),
  '/api/auth/request-otp': () => [200, { success: true }],
  '/api/auth/verify-otp': () => [200, { token: newSession() }],
  '/api/user/chat/messages': (token, { id, text }) =>
    live.has(token) ? [200, { message: { id, text, seq: 1 } }] : [401, { code: 'unauthenticated' }],
};

beforeAll(async () => {
  server = await listen(0);
  server.serve((request, response) => void handle(request, response));
});
afterAll(() => server.close());
beforeEach(() => live.clear());

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = (await request.toArray()).join('');
  const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
  const [status, body] = respond[request.url!]!(token, text && JSON.parse(text));
  response.writeHead(status).end(JSON.stringify(body));
}

function newSession(): string {
  const token = new UnsecuredJWT({ sid: crypto.randomUUID() }).setSubject('user').encode();
  live.add(token);
  return token;
}

function newWorld(): World {
  let codes = 0;
  const figures = new Figures();
  const never = new AbortController().signal;
  return {
    // A new code at each look.
    rig: { control: async () => Array.from({ length: (codes += 1) }, () => ({ code: '123456' })) } as unknown as Rig,
    site: new Site(`http://127.0.0.1:${server.port}`, `whsec_${btoa('secret')}`, figures),
    figures,
    latencies: new Latencies(),
    timeline: new Timeline(),
    people: [],
    seen: [],
    marker: 'marker',
    closing: never,
    givenUp: never,
  };
}

/** A signed-in user. */
function newWriter(): Person {
  const person = new Person(0, 'writer', new Choices(1));
  person.signedIn(newSession());
  return person;
}

test('another tab sends a message while its user logs out: it is accepted in the next session', async () => {
  const world = newWorld();
  const person = newWriter();
  const loggedOut = new Promise<void>((resolve) => (ended = resolve));
  const leaving = logOut(world, person);
  await loggedOut;
  await sendMessage(world, person, false);
  await leaving;
  expect(world.seen).toEqual([]);
  expect(person.conversation.accepted.size).toBe(1);
});

test('a 401 in a session that its user did not end breaks an invariant', async () => {
  const world = newWorld();
  const person = newWriter();
  live.clear();
  await sendMessage(world, person, false);
  expect(world.seen).toEqual([expect.stringContaining('unauthenticated')]);
});
