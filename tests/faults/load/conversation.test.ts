import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import {
  messagesReachedBot,
  pagesAreWhole,
  recordingsAreWhole,
  textIsNowhere,
} from '../invariants/conversations.ts';
import { Choices, Person, type Message } from '../person.ts';
import { Figures } from '../records.ts';
import type { Rig, World } from '../rig.ts';
import type { Answer, Call, Options, Site } from '../site.ts';
import { clearConversation, sendMessage } from './conversation.ts';

/** A stub of the product, and what else it does when a message arrives. */
let isSignedIn: boolean;
let page: Message[];
let stored: Buffer | null;
let botEvents: object[];
let arrived: () => Promise<void>;

beforeEach(() => {
  [isSignedIn, page, botEvents, stored] = [true, [], [], null];
  arrived = async () => {};
});

type Result = Partial<Answer>;
const recording = (): Result => (stored ? { bytes: stored } : { status: 404 });
const fromUser = {
  seq: 1,
  author: 'user',
  state: 'delivered',
} as const;

const respond: Partial<Record<Call, (options: Options) => Result | Promise<Result>>> = {
  sendMessage: async ({ body }) => {
    if (!isSignedIn) return { status: 401, code: 'unauthenticated' };
    const message = {
      ...(body as { id: string; text: string }),
      ...fromUser,
    };
    page = [message];
    await arrived();
    return { body: { message } };
  },
  sendVoice: ({ recording: { type, seconds, bytes } = {} as never, query }) => {
    stored = bytes;
    page = [
      {
        id: query!.id!,
        text: '',
        ...fromUser,
        voice: {
          type,
          seconds,
          bytes: bytes.length,
        },
      },
    ];
    return { body: { message: page[0] } };
  },
  getChat: () => ({ body: { messages: page, hasMore: false } }),
  clearChat: () => {
    page = [];
    return {};
  },
  getVoice: recording,
  botVoice: recording,
};

const site = {
  async call(name: Call, options: Options = {}) {
    return {
      status: 200,
      code: null,
      body: {},
      bytes: Buffer.alloc(0),
      ...(await respond[name]!(options)),
    };
  },
  bot: (name: Call) => site.call(name),
};

function newWorld(): { world: World; person: Person } {
  const person = new Person(0, 'writer', new Choices(1));
  person.signedIn('token');
  person.conversation.consented = true;
  const control = async (_: string, path: string) => (path === '/bot/events' ? botEvents : []);
  const never = new AbortController().signal;
  const world: World = {
    rig: { control } as unknown as Rig,
    site: site as unknown as Site,
    figures: new Figures(),
    people: [person],
    seen: [],
    marker: 'marker0123456789abcdef',
    closing: never,
    givenUp: never,
  };
  return { world, person };
}

const typed = { hangUp: false, isSpoken: false };
const broken = (...texts: string[]) => ({
  broken: texts.map((text) => expect.stringContaining(text) as string),
});

test('a 401 in a session that its user did not end breaks an invariant', async () => {
  const { world, person } = newWorld();
  isSignedIn = false;
  await sendMessage(world, person, typed);
  expect(world.seen).toEqual([expect.stringContaining('unauthenticated')]);
});

test.each(['removes a message in flight', 'is followed by a message in flight'])(
  'a clearing %s',
  async (what) => {
    const { world, person } = newWorld();
    arrived = async () => {
      const before = page;
      await clearConversation(world, person);
      if (what.startsWith('is followed')) page = before;
    };
    await sendMessage(world, person, typed);
    expect(await pagesAreWhole(world)).toMatchObject(broken());
  },
);

test('a cleared message must not be on the page, and reach the bot before the clearing', async () => {
  const { world, person } = newWorld();
  await sendMessage(world, person, typed);
  const before = page;
  await clearConversation(world, person);
  expect(await pagesAreWhole(world)).toMatchObject(broken());
  page = before;
  expect(await pagesAreWhole(world)).toMatchObject(broken('which was cleared'));
  const [messageId] = person.conversation.sent.keys();
  const { phone } = person;
  const message = {
    type: 'chat.message',
    timestamp: '2026-01-01T00:00:00.000Z',
    data: { phone, messageId },
  };
  const cleared = {
    type: 'chat.cleared',
    timestamp: '2026-01-01T00:00:01.000Z',
    data: { phone },
  };
  botEvents = [message, cleared];
  expect(await messagesReachedBot(world)).toMatchObject(broken());
  botEvents = [cleared, message];
  expect(await messagesReachedBot(world)).toMatchObject(broken('after it was cleared'));
});

test('a recording must reach its user and the bot byte by byte, and be gone after a clearing', async () => {
  const { world, person } = newWorld();
  await sendMessage(world, person, { hangUp: false, isSpoken: true });
  const sent = stored!;
  expect(await recordingsAreWhole(world)).toMatchObject({
    checked: 1,
    ...broken(),
  });
  stored = Buffer.from(sent).fill(0, 900, 901);
  expect(await recordingsAreWhole(world)).toMatchObject(broken('other bytes'));
  stored = null;
  expect(await recordingsAreWhole(world)).toMatchObject(broken('gets 404'));
  await clearConversation(world, person);
  expect(await recordingsAreWhole(world)).toMatchObject(broken());
  stored = sent;
  expect(await recordingsAreWhole(world)).toMatchObject(broken('gets 200'));
});

test.each([0, 1, 2])(
  'a recording is found in a file, as it is and in base64 after %i bytes',
  async (before) => {
    const { world } = newWorld();
    const stateDir = mkdtempSync(join(tmpdir(), 'state-'));
    world.rig.stateDir = stateDir;
    const text = `${'.'.repeat(before)}${world.marker} and more`;
    for (const [content, times] of [
      [text, 1] as const,
      [btoa(text), 1] as const,
      ['nothing', 0] as const,
    ]) {
      writeFileSync(join(stateDir, 'file'), content);
      expect((await textIsNowhere(world)).broken).toHaveLength(times);
    }
    rmSync(stateDir, { recursive: true });
  },
);
