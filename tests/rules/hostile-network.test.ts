import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChatMessage, ChatPage } from '../../worker/contract/chat-schemas.ts';
import { fetchInTime } from '../../web/data/fetch-in-time.ts';
import { TimeLimitError, within } from '../../web/data/promise-limit.ts';
import {
  awaitsReply,
  conversationOf,
  withNewestPage,
} from '../../web/rules/conversation-changes.ts';
import { joinedTexts, readDraft, withGivenBack, withoutArrived } from '../../web/rules/drafts.ts';
import { KeptValues } from '../../web/rules/kept-values.ts';
import { isRefusedForGood, microphoneProblem } from '../../web/rules/recording.ts';
import { ServerClock } from '../../web/rules/server-clock.ts';
import {
  challengesFor,
  firstStep,
  hasCode,
  readLockout,
  readPhoneChange,
  readStep,
  secondsLeft,
  withFailure,
  withIssued,
} from '../../web/rules/sign-in-steps.ts';
import { readBeat, probeInterval } from '../../web/rules/stream-events.ts';

describe('sending', () => {
  const request = vi.fn<typeof fetch>();
  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal('fetch', request);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('returns the whole response', async () => {
    request.mockResolvedValue(Response.json({ done: true }, { status: 201 }));
    const response = await fetchInTime('/x', 1000);
    if (typeof response === 'string') throw new Error(response);
    expect([response.status, response.ok, await response.json()]).toEqual([
      201,
      true,
      { done: true },
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('tells a network that fails from a response that takes too long', async () => {
    request.mockRejectedValue(new TypeError('Failed to fetch'));
    expect(await fetchInTime('/x', 1000)).toBe('unreachable');
    // Also one that ignores that nobody waits any more.
    request.mockReturnValue(new Promise(() => {}));
    const sent = fetchInTime('/x', 1000);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await sent).toBe('slow');
    expect(request.mock.lastCall?.[1]?.signal?.aborted).toBe(true);
  });

  it('waits no longer for a body that does not end', async () => {
    request.mockResolvedValue(new Response(new ReadableStream({})));
    const sent = fetchInTime('/x', 1000);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await sent).toBe('slow');
  });

  it('ends when its caller gives up', async () => {
    request.mockImplementation(
      (_, init) =>
        new Promise((_resolve, reject) =>
          init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))),
        ),
    );
    const caller = new AbortController();
    const sent = fetchInTime('/x', 1000, { signal: caller.signal });
    caller.abort();
    expect(await sent).toBe('unreachable');
  });

  it('ends any other wait by an error', async () => {
    expect(await within(1000, Promise.resolve('here'))).toBe('here');
    const waiting = within(1000, new Promise(() => {}));
    const outcome = expect(waiting).rejects.toThrow(TimeLimitError);
    await vi.advanceTimersByTimeAsync(1000);
    await outcome;
  });
});

describe('the clock of the server', () => {
  const at = '2026-11-28T12:00:00.000Z';
  const serverNow = Date.parse(at);

  /** A device whose clock is wrong by so many milliseconds. */
  function deviceWith(error: number) {
    let passed = 5000;
    const clock = new ServerClock(
      () => passed,
      () => serverNow + error + passed,
    );
    return { clock, pass: (ms: number) => (passed += ms) };
  }

  it.each([0, 86_400_000, -86_400_000])('is right on a device that is wrong by %d ms', (error) => {
    const { clock, pass } = deviceWith(error);
    clock.learn(at);
    pass(1500);
    expect(clock.now()).toBe(serverNow + 1500);
    expect(clock.iso()).toBe('2026-11-28T12:00:01.500Z');
    expect(clock.until('2026-11-28T12:00:20.000Z', 30_000)).toBe(18_500);
  });

  it('is not taken back by what arrives late, nor changed by what is no time', () => {
    const { clock, pass } = deviceWith(0);
    clock.learn('Sat, 28 Nov 2026 12:00:00 GMT');
    pass(3000);
    for (const late of [at, null, '', 'soon']) clock.learn(late);
    expect(clock.now()).toBe(serverNow + 3000);
  });

  it('is that of the device until the server has said its own, and then decides no duration', () => {
    const { clock } = deviceWith(60_000);
    expect([clock.isKnown, clock.now()]).toEqual([false, serverNow + 65_000]);
    expect(clock.until(at, 30_000)).toBe(30_000);
  });

  it('gives durations between nothing and the longest', () => {
    const { clock } = deviceWith(0);
    clock.learn(at);
    expect(clock.until('2026-11-28T11:59:00.000Z', 30_000)).toBe(0);
    expect(clock.until('2026-11-29T12:00:00.000Z', 30_000)).toBe(30_000);
  });

  it('comes with each beat', () => {
    expect(readBeat(`{"at":"${at}"}`)).toBe(at);
    for (const other of ['', '{}', '{"at":1}', 'null']) expect(readBeat(other)).toBeNull();
  });
});

it('looks for a sign of life at most once a minute, and not with all pages at once', () => {
  expect([0, 0.5, 1].map(probeInterval)).toEqual([60_000, 75_000, 90_000]);
});

describe('what the browser keeps', () => {
  const areaOf = (values: Map<string, string>, isFull = () => false) => ({
    getItem: (key: string) => values.get(key) ?? null,
    setItem(key: string, value: string) {
      if (isFull()) throw new DOMException('', 'QuotaExceededError');
      values.set(key, value);
    },
    removeItem: (key: string) => void values.delete(key),
  });

  it('is in the storage, where other pages and tabs see it', () => {
    const values = new Map<string, string>();
    const kept = new KeptValues(() => areaOf(values));
    kept.write('key', 'one');
    expect(values.get('key')).toBe('one');
    values.set('key', 'another tab');
    expect(kept.read('key')).toBe('another tab');
    values.clear();
    expect(kept.read('key')).toBeNull();
  });

  it('is in memory if the storage is blocked', () => {
    const kept = new KeptValues(() => {
      throw new DOMException('', 'SecurityError');
    });
    expect(kept.read('key')).toBeNull();
    kept.write('key', 'one');
    expect(kept.read('key')).toBe('one');
    kept.remove('key');
    expect(kept.read('key')).toBeNull();
  });

  it('is in memory while the storage is full, and an older value does not come back', () => {
    const values = new Map([['key', 'old']]);
    let isFull = true;
    const kept = new KeptValues(() => areaOf(values, () => isFull));
    kept.write('key', 'new');
    expect([kept.read('key'), values.get('key')]).toEqual(['new', undefined]);
    isFull = false;
    kept.write('key', 'newer');
    expect([kept.read('key'), values.get('key')]).toEqual(['newer', 'newer']);
  });

  it.each(['key', null])('follows another tab that changes %s', (changed) => {
    const values = new Map<string, string>();
    const kept = new KeptValues(() => areaOf(values, () => true));
    kept.write('key', 'here');
    values.set('key', 'there');
    kept.noteChange(changed);
    expect(kept.read('key')).toBe('there');
  });
});

describe('the steps of a sign-in', () => {
  const phone = '+15551234567';
  const asked = (challenge: string | null, at: number | null = 0, number = phone) => ({
    phone: number,
    challenge,
    at,
  });

  it('come back as they were kept, and anything else is no step', () => {
    const step = {
      ...withIssued(firstStep, asked('one')),
      step: 'code' as const,
    };
    expect(readStep(JSON.parse(JSON.stringify(step)))).toEqual(step);
    for (const other of [null, 1, 'code', {}, { ...step, step: 'done' }, { ...step, issued: [1] }])
      expect(readStep(other)).toBeNull();
  });

  it('send the challenge of the newest code of the number', () => {
    const first = withIssued(firstStep, asked('one'));
    expect(challengesFor(first, phone)).toBe('one');
    expect(challengesFor(first, '+15550000000')).toBeUndefined();
    const other = withIssued(first, asked('other', 0, '+15550000000'));
    expect(challengesFor(other, '+15550000000')).toBe('other');
    expect(challengesFor(other, phone)).toBe('one');
  });

  it('send those of earlier codes too, at most three and newest first', () => {
    const codes = ['one', 'two', 'three', 'four', 'four'];
    const step = codes.reduce((before, code) => withIssued(before, asked(code)), firstStep);
    expect(challengesFor(step, phone)).toEqual(['four', 'three', 'two']);
  });

  it('send none if the newest challenge was lost', () => {
    const lost = withIssued(withIssued(firstStep, asked('one')), asked(null));
    expect(challengesFor(lost, phone)).toBeUndefined();
  });

  it('have a code for five minutes', () => {
    const step = withIssued(firstStep, asked('one', 1000));
    expect([300_999, 301_000].map((now) => hasCode(step, phone, now))).toEqual([true, false]);
    expect(hasCode(step, '+15550000000', 1000)).toBe(false);
    expect(hasCode(withIssued(firstStep, asked('one', null)), phone, 301_000)).toBe(true);
    const change = { phone, challenge: 'one', at: 1000 };
    expect(readPhoneChange(change, 300_999)).toEqual(change);
    expect(readPhoneChange(change, 301_000)).toBeNull();
    expect(readPhoneChange({ phone }, 1000)).toBeNull();
  });

  it('wait for half a minute after the third failure, also after a reload', () => {
    const [first, second] = [withFailure(readLockout(null, 0), 0), 1];
    const locked = withFailure(withFailure(first, second), 2000);
    expect(secondsLeft(first, 0)).toBe(0);
    expect([2000, 31_500, 32_000].map((now) => secondsLeft(locked, now))).toEqual([30, 1, 0]);
    expect(readLockout(JSON.parse(JSON.stringify(locked)), 2000)).toEqual(locked);
    expect(withFailure(locked, 40_000)).toEqual({
      failures: 1,
      endsAt: 32_000,
    });
  });

  it('never wait for longer, whatever the clock does between two pages', () => {
    const locked = { failures: 0, endsAt: 86_400_000 };
    expect(secondsLeft(readLockout(locked, 1000), 1000)).toBe(30);
  });
});

const messageOf = (seq: number, author: ChatMessage['author'] = 'user'): ChatMessage => ({
  id: `id-${seq}`,
  seq,
  author,
  text: `Text ${seq}`,
  at: '2026-11-28T12:00:00.000Z',
  state: 'delivered',
});
const pageOf = (revision: number, seqs: number[], hasMore = false): ChatPage => ({
  success: true,
  revision,
  messages: seqs.map((seq) => messageOf(seq, seq % 2 === 0 ? 'solace' : 'user')),
  hasMore,
  typingUntil: null,
  consent: null,
});
const seqsOf = ({ messages }: { messages: readonly ChatMessage[] }) =>
  messages.map(({ seq }) => seq);

describe('a conversation that is read again', () => {
  it('counts what was missed as arrived since the page was opened', () => {
    const before = conversationOf(pageOf(5, [1]));
    const after = withNewestPage(before, pageOf(7, [1, 2]));
    expect([seqsOf(after), after.loadedUpTo, after.revision]).toEqual([[1, 2], 1, 7]);
    expect(withNewestPage(undefined, pageOf(7, [1, 2])).loadedUpTo).toBe(2);
  });

  it('changes nothing if it is older than what the stream has brought', () => {
    const before = conversationOf(pageOf(8, [1, 2]));
    expect(withNewestPage(before, pageOf(7, [1]))).toBe(before);
  });

  it('keeps older messages that the page continues, and drops those before a gap', () => {
    const before = conversationOf(pageOf(5, [1, 2, 3, 4]));
    expect(seqsOf(withNewestPage(before, pageOf(6, [4, 5], true)))).toEqual([1, 2, 3, 4, 5]);
    expect(seqsOf(withNewestPage(before, pageOf(6, [5, 6], true)))).toEqual([1, 2, 3, 4, 5, 6]);
    // Its oldest message is here, so there is none to ask for.
    expect(withNewestPage(before, pageOf(6, [5, 6], true)).hasMore).toBe(false);
    expect(seqsOf(withNewestPage(before, pageOf(9, [8, 9], true)))).toEqual([8, 9]);
    // Cleared meanwhile: the page is the whole conversation.
    expect(seqsOf(withNewestPage(before, pageOf(9, [5])))).toEqual([5]);
    expect(seqsOf(withNewestPage(before, pageOf(9, [])))).toEqual([]);
  });

  it('awaits a reply until there is one', () => {
    expect(awaitsReply(conversationOf(pageOf(5, [1])), 1)).toBe(true);
    expect(awaitsReply(conversationOf(pageOf(6, [1, 2])), 1)).toBe(false);
    expect(awaitsReply(conversationOf(pageOf(7, [1, 2, 3])), 1)).toBe(true);
    expect(awaitsReply(conversationOf(pageOf(8, [])), 1)).toBe(false);
  });
});

describe('a draft', () => {
  const at = '2026-11-28T12:00:00.000Z';
  const pending = {
    id: 'id-1',
    text: 'Sent into nothing',
    at,
    state: 'sending' as const,
  };
  const kept = { text: 'Half a sen', pending: [pending] };

  it('comes back with its unsent messages, or empty if it cannot be read', () => {
    expect(readDraft(kept)).toEqual({
      text: 'Half a sen',
      pending: [{ ...pending, state: 'unsent' }],
    });
    for (const other of [null, 'text', 7, { text: 1, pending: [{ id: 1 }, null] }])
      expect(readDraft(other)).toEqual({ text: '', pending: [] });
  });

  it('stands before what was typed until it came back', () => {
    expect(joinedTexts('Half a', 'sentence')).toBe('Half a\nsentence');
    expect(joinedTexts('', 'typed')).toBe('typed');
    expect(joinedTexts('kept', 'kept')).toBe('kept');
  });

  it('takes a refused message back, and loses no other text for it', () => {
    expect(withGivenBack({ text: '', pending: [pending] }, 'id-1')).toEqual({
      text: pending.text,
      pending: [],
    });
    const beside = {
      text: 'Another',
      pending: [{ ...pending, state: 'unsent' as const }],
    };
    expect(withGivenBack({ text: 'Another', pending: [pending] }, 'id-1')).toEqual(beside);
    expect(withGivenBack(beside, 'id-2')).toEqual(beside);
  });

  it('loses a message that has arrived although its response was lost', () => {
    const unsent = { ...pending, state: 'unsent' as const };
    expect(withoutArrived([unsent], [messageOf(1)])).toEqual([]);
    expect(withoutArrived([unsent], [messageOf(2)])).toEqual([unsent]);
    expect(withoutArrived([unsent], [{ ...messageOf(1), state: 'failed' }])).toEqual([unsent]);
    expect(withoutArrived([pending], [messageOf(1)])).toEqual([pending]);
  });
});

describe('a recording', () => {
  it('is not offered again where the refusal stays the same', () => {
    expect(['body_too_large', 'not_audio', 'invalid_body'].map(isRefusedForGood)).toEqual([
      true,
      true,
      true,
    ]);
    expect(['rate_limited', 'network', 'slow', null].map(isRefusedForGood)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it('says when the question for the microphone was not answered', () => {
    expect(microphoneProblem('TimeoutError')).toBe('unanswered');
  });
});
