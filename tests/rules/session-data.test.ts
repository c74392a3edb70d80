import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { streamBeat, streamReplaced } from '../../worker/contract/usage-stream.ts';
import { drafts } from '../../web/data/chat-drafts.ts';
import { connectionState, StreamReader } from '../../web/data/event-stream.ts';
import { keptInTab } from '../../web/data/kept-in-tab.ts';
import { keepProfile } from '../../web/data/profile-query.ts';
import { session } from '../../web/data/session.ts';
import { sessionStream } from '../../web/data/session-stream.ts';
import { activateTrial } from '../../web/data/sign-in.ts';
import { openingMs, silenceMs } from '../../web/data/time-limits.ts';
import { asked, closeTestPage, eventually, openTestPage, responses } from './test-page.ts';

beforeEach(openTestPage);
afterEach(closeTestPage);

it('a session is put aside for a trial link that fails, until somebody signs in', async () => {
  session.start('token');
  await activateTrial('expired');
  expect([session.get().token, session.storedToken()]).toEqual([null, null]);

  session.takeBack();
  expect([session.storedToken(), session.isAside()]).toEqual(['token', false]);

  session.putAside('token');
  session.start('later');
  session.takeBack();
  expect(session.storedToken()).toBe('later');
});

describe('a draft', () => {
  const at = '2026-11-28T12:00:00.000Z';

  function open(token: string) {
    session.start(token);
    drafts.open(token);
    drafts.restore(token);
  }

  beforeEach(() => {
    open('mine');
    drafts.add({ id: 'id-1', text: 'Refused', at, state: 'sending' });
  });

  it('leaves the memory with its session, and takes a refused message back after it', () => {
    session.end('mine');
    expect(drafts.get()).toMatchObject({ token: null, pending: [] });

    drafts.giveBack('mine', 'id-1');
    expect(keptInTab.read('chat', 'mine')).toEqual({ text: 'Refused', pending: [] });
  });

  it('takes back no message of another person', () => {
    open('yours');
    drafts.write('Yours');
    drafts.giveBack('mine', 'id-1');
    expect(drafts.get().text).toBe('Yours');
    expect(keptInTab.read('chat', 'yours')).toEqual({ text: 'Yours', pending: [] });
  });
});

const [ticketCall, profileCall] = ['POST /api/user/stream-ticket', 'GET /api/user/me'];
const hourMs = 3_600_000;
const status = () => connectionState.get().status;

/** The streams that the page has opened. */
let sources: Source[];

class Source extends EventTarget {
  static readonly OPEN = 1;
  readyState = 1;

  constructor() {
    super();
    sources.push(this);
  }

  close() {
    this.readyState = 2;
  }

  send(type: string) {
    this.dispatchEvent(new MessageEvent(type, { data: '{}' }));
  }
}

/** Returns the newest stream as soon as there are so many. */
async function sourceNumber(count: number): Promise<Source> {
  await eventually(() => expect(sources).toHaveLength(count));
  return sources.at(-1)!;
}

function startStreams() {
  sources = [];
  vi.stubGlobal('EventSource', Source);
  responses[ticketCall] = { success: true, ticket: 'ticket' };
  session.start('token');
}

describe('a stream', () => {
  let onSilence = vi.fn();
  let reader: StreamReader;

  beforeEach(() => {
    startStreams();
    onSilence = vi.fn();
    const events = { query: () => ({}), onOpen() {}, onMessage() {}, onSilence };
    reader = new StreamReader({ token: 'token', name: 'usageStream', ...events });
  });

  afterEach(() => reader.close());

  it('that brings no event within its time is reported, and opened again', async () => {
    const first = await sourceNumber(1);
    vi.advanceTimersByTime(openingMs - 1);
    expect(onSilence).not.toHaveBeenCalled();

    vi.advanceTimersByTime(1);
    expect(onSilence).toHaveBeenCalledTimes(1);
    expect([status(), first.readyState]).toEqual(['reconnecting', 2]);
  });

  it('that falls silent after a beat is opened again', async () => {
    const first = await sourceNumber(1);
    first.send(streamBeat);
    vi.advanceTimersByTime(silenceMs - 1);
    expect(status()).toBe('live');

    vi.advanceTimersByTime(1);
    await sourceNumber(2);
    expect([onSilence.mock.calls.length, first.readyState]).toEqual([0, 2]);
  });

  it('that a newer one has replaced stays closed', async () => {
    const first = await sourceNumber(1);
    first.send(streamReplaced);
    reader.noteConnection();
    await vi.advanceTimersByTimeAsync(hourMs);
    expect([status(), first.readyState, asked]).toEqual(['lost', 2, [ticketCall]]);
  });

  it('is lost after five more attempts', async () => {
    await sourceNumber(1);
    delete responses[ticketCall];
    sources[0]!.send('error');
    await vi.advanceTimersByTimeAsync(hourMs);
    expect([status(), asked.length]).toEqual(['lost', 6]);
  });
});

describe('a page whose stream has ended', () => {
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });

  beforeEach(async () => {
    page.visibilityState = 'visible';
    vi.stubGlobal('document', page);
    startStreams();
    sessionStream.start(() => false);
    keepProfile('token', { status: 'approved' });
    await sourceNumber(1);
    asked.length = 0;
  });

  /** Lets the server respond, and time pass until the page asks it. */
  async function passUntilAsked() {
    const profile = { status: 'approved', messagesUsedThisPeriod: 7 };
    responses[profileCall] = { success: true, profile };
    for (let timers = 0; timers < 20 && !asked.includes(profileCall); timers += 1)
      await vi.advanceTimersToNextTimerAsync();
  }

  it('reads by a call what a replaced stream does not bring', async () => {
    sources[0]!.send(streamReplaced);
    await passUntilAsked();
    await eventually(() => expect(session.get().user?.messagesUsedThisPeriod).toBe(7));
    expect(sources).toHaveLength(1);
  });

  it('opens a lost stream again as soon as the server responds', async () => {
    delete responses[ticketCall];
    sources[0]!.send('error');
    await vi.advanceTimersByTimeAsync(hourMs);
    expect([status(), sources.length]).toEqual(['lost', 1]);

    asked.length = 0;
    responses[ticketCall] = { success: true, ticket: 'ticket' };
    await passUntilAsked();
    await sourceNumber(2);
  });

  it('asks nothing while nobody sees it', async () => {
    page.visibilityState = 'hidden';
    sources[0]!.send(streamReplaced);
    await vi.advanceTimersByTimeAsync(hourMs);
    expect(asked).toEqual([]);
  });
});
