import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnsecuredJWT } from 'jose';
import { beforeEach, expect, test } from 'vitest';
import { messagesReachedBot, pagesAreWhole, recordingsAreWhole, textIsNowhere } from '../invariants/conversations.ts';
import { Choices, Person, type Message } from '../person.ts';
import { Figures } from '../records.ts';
import type { Rig, World } from '../rig.ts';
import type { Answer, Options, Site } from '../site.ts';
import { logOut } from './acts.ts';
import { clearConversation, sendMessage, sendRecording } from './conversation.ts';

/**
 * A stub of the product: its live sessions, its page, the events of the bot, and what else it does when a session ends or
 * a message arrives.
 */
const live = new Set<string>();
let page: Message[] = [];
let stored: Buffer | null = null;
let botEvents: object[] = [];
let ended = () => {};
let arrived = async () => {};

beforeEach(() => {
  live.clear();
  [page, botEvents, stored] = [[], [], null];
  [ended, arrived] = [() => {}, async () => {}];
});

type Result = Partial<Answer>;
const refused: Result = { status: 401, code: 'unauthenticated' };
const recording = (): Result => (stored ? { bytes: stored } : { status: 404 });
const fromUser = { seq: 1, author: 'user', state: 'delivered' } as const;

const respond: Record<string, (options: Options, path: string) => Result | Promise<Result>> = {
  'log out': ({ token }) => {
    const known = live.delete(token!);
    ended();
    return known ? {} : refused;
  },
  profile: ({ token }) => (live.has(token!) ? {} : refused),
  'request code': () => ({}),
  'verify code': () => ({ body: { token: newSession() } }),
  'chat message': async ({ token, body }) => {
    if (!live.has(token!)) return refused;
    const message = { ...(body as { id: string; text: string }), ...fromUser };
    page = [message];
    await arrived();
    return { body: { message } };
  },
  'voice message': ({ recording: { type, seconds, bytes } = {} as never }, path) => {
    const id = new URL(path, 'http://localhost').searchParams.get('id')!;
    stored = bytes;
    page = [{ id, text: '', ...fromUser, voice: { type, seconds, bytes: bytes.length } }];
    return { body: { message: page[0] } };
  },
  'chat page': () => ({ body: { messages: page, hasMore: false } }),
  'clear chat': () => {
    page = [];
    return {};
  },
  recording,
  'bot recording': recording,
};

const site = {
  async call(kind: string, _method: string, path: string, options: Options = {}) {
    return { status: 200, code: null, body: {}, bytes: Buffer.alloc(0), ...(await respond[kind]!(options, path)) };
  },
  bot: (kind: string, path: string) => site.call(kind, 'POST', path),
};

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
  const never = new AbortController().signal;
  const world: World = {
    rig: { control } as unknown as Rig,
    site: site as unknown as Site,
    figures: new Figures(),
    people: [person],
    seen: [],
    botOutage: null,
    marker: 'marker0123456789abcdef',
    closing: never,
    givenUp: never,
  };
  return { world, person };
}

const broken = (...texts: string[]) => ({ broken: texts.map((text) => expect.stringContaining(text) as string) });

test('another tab sends a message while its user logs out: it is accepted in the next session', async () => {
  const { world, person } = newWorld();
  const loggedOut = new Promise<void>((resolve) => (ended = resolve));
  const leaving = logOut(world, person);
  await loggedOut;
  await sendMessage(world, person, false);
  await leaving;
  expect(world.seen).toEqual([]);
  expect(person.conversation.accepted).toHaveLength(1);
});

test('a 401 in a session that its user did not end breaks an invariant', async () => {
  const { world, person } = newWorld();
  live.clear();
  await sendMessage(world, person, false);
  expect(world.seen).toEqual([expect.stringContaining('unauthenticated')]);
});

test.each(['removes a message in flight', 'is followed by it'])('a clearing %s', async (what) => {
  const { world, person } = newWorld();
  arrived = async () => {
    const before = page;
    await clearConversation(world, person);
    if (what === 'is followed by it') page = before;
  };
  await sendMessage(world, person, false);
  expect(await pagesAreWhole(world)).toMatchObject(broken());
});

test('a cleared message must not be on the page, and reach the bot before the clearing', async () => {
  const { world, person } = newWorld();
  await sendMessage(world, person, false);
  const before = page;
  await clearConversation(world, person);
  expect(await pagesAreWhole(world)).toMatchObject(broken());
  page = before;
  expect(await pagesAreWhole(world)).toMatchObject(broken('which was cleared'));
  const [messageId] = person.conversation.sent.keys();
  const { phone } = person;
  const message = { type: 'chat.message', timestamp: '2026-01-01T00:00:00.000Z', data: { phone, messageId } };
  const cleared = { type: 'chat.cleared', timestamp: '2026-01-01T00:00:01.000Z', data: { phone } };
  botEvents = [message, cleared];
  expect(await messagesReachedBot(world)).toMatchObject(broken());
  botEvents = [cleared, message];
  expect(await messagesReachedBot(world)).toMatchObject(broken('after it was cleared'));
});

test('a recording must reach its user and the bot byte by byte, and be gone after a clearing', async () => {
  const { world, person } = newWorld();
  await sendRecording(world, person, false);
  const sent = stored!;
  expect(await recordingsAreWhole(world)).toMatchObject({ checked: 1, ...broken() });
  stored = Buffer.from(sent).fill(0, 900, 901);
  expect(await recordingsAreWhole(world)).toMatchObject(broken('other bytes'));
  stored = null;
  expect(await recordingsAreWhole(world)).toMatchObject(broken('gets 404'));
  await clearConversation(world, person);
  expect(await recordingsAreWhole(world)).toMatchObject(broken());
  stored = sent;
  expect(await recordingsAreWhole(world)).toMatchObject(broken('gets 200'));
});

test.each([0, 1, 2])('a recording is found in a file, as it is and in base64 after %i bytes', async (before) => {
  const { world } = newWorld();
  const stateDir = mkdtempSync(join(tmpdir(), 'state-'));
  world.rig.stateDir = stateDir;
  const text = `${'.'.repeat(before)}${world.marker} and more`;
  for (const [content, times] of [[text, 1] as const, [btoa(text), 1] as const, ['nothing', 0] as const]) {
    writeFileSync(join(stateDir, 'file'), content);
    expect((await textIsNowhere(world)).broken).toHaveLength(times);
  }
  rmSync(stateDir, { recursive: true });
});
