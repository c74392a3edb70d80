import type { ChatMessage, ChatPage, ChatStreamEvent } from '#contract/chat-schemas';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEvent, conversationOf, withOlderPage } from '../../web/rules/conversation-changes.ts';
import { shownMessages, transcript, withReminders } from '../../web/rules/transcript.ts';
import { clockText, levelOf, microphoneProblem, recordingType } from '../../web/rules/recording.ts';
import { readEvent } from '../../web/rules/stream-events.ts';

const at = '2026-01-05T10:00:00.000Z';
const until = '2026-01-05T10:00:20.000Z';

describe('a conversation', () => {
  type Facts = Partial<ChatMessage>;
  const sent = {
    author: 'user',
    text: 'Hi',
    at,
    state: 'sent',
  } as const;
  const message = (seq: number, facts: Facts = {}): ChatMessage => ({
    id: `m${seq}`,
    seq,
    ...sent,
    ...facts,
  });
  const page = (messages: ChatMessage[], hasMore = false): ChatPage => ({
    success: true,
    revision: messages.length,
    messages,
    hasMore,
    typingUntil: null,
    consent: null,
  });

  describe('the events of a conversation', () => {
    it('deliver only what is still sent, up to a message', () => {
      const start = conversationOf(page([message(1, { state: 'failed' }), message(2), message(3)]));
      const { messages } = applyEvent(start, { type: 'state', upTo: 2, state: 'delivered' }, 4);
      expect(messages.map(({ state }) => state)).toEqual(['failed', 'delivered', 'sent']);
    });

    it('show a reply as far as it is written, and nothing of it afterwards', () => {
      const typing = (text: string) =>
        ({
          type: 'typing',
          until,
          text,
        }) as const;
      const start = applyEvent(conversationOf(page([message(1)])), typing('Hel'), null);
      expect(start).toMatchObject({
        typed: 'Hel',
        typingUntil: expect.anything(),
      });
      const grown = applyEvent(start, typing('Hello'), null);
      expect(grown.typed).toBe('Hello');
      const ends: ChatStreamEvent[] = [
        { type: 'message', message: message(2, { author: 'solace' }) },
        { type: 'typing', until: null },
        { type: 'cleared' },
      ];
      for (const event of ends)
        expect(applyEvent(grown, event, 9), event.type).toMatchObject({
          typed: '',
          typingUntil: null,
        });
      expect(applyEvent(grown, { type: 'message', message: message(2) }, 9).typed).toBe('Hello');
    });

    it('show each message once and in order, whatever arrives twice or late', () => {
      const events = fc.array(
        fc.integer({
          min: 1,
          max: 20,
        }),
        { maxLength: 60 },
      );
      fc.assert(
        fc.property(events, (seqs) => {
          let state = conversationOf(page([]));
          for (const [index, seq] of seqs.entries())
            state = applyEvent(state, { type: 'message', message: message(seq) }, index + 1);
          const shown = state.messages.map(({ seq }) => seq);
          expect(shown).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
        }),
      );
    });

    it('leave a message of an older page to that page, which comes without doubles', () => {
      const start = conversationOf(page([message(5), message(6)], true));
      const event = { type: 'message', message: message(2) } as const;
      const next = applyEvent(start, event, 9);
      expect(next.messages.map(({ seq }) => seq)).toEqual([5, 6]);
      expect(next.revision).toBe(9);
      const whole = withOlderPage(next, page([1, 2, 3, 4, 5].map((seq) => message(seq))));
      expect(whole.hasMore).toBe(false);
      expect(whole.messages.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(
        applyEvent(whole, { ...event, message: message(2, { text: 'Bye' }) }, 10).messages[1]?.text,
      ).toBe('Bye');
    });
  });

  it('shows pending messages after the stored ones, and once when the server has them', () => {
    const pending = [
      {
        id: 'm2',
        text: 'Hi',
        at,
        state: 'sending' as const,
      },
    ];
    const shown = (...stored: ChatMessage[]) =>
      shownMessages(stored, pending).map(({ id, state }) => `${id} ${state}`);
    expect(shown(message(1))).toEqual(['m1 sent', 'm2 sending']);
    expect(shown(message(1), message(2))).toEqual(['m1 sent', 'm2 sent']);
    expect(shown(message(2, { state: 'failed' }))).toEqual(['m2 sending']);
  });

  describe('the transcript', () => {
    const isoAt = (hours: number) =>
      new Date(Date.UTC(2026, 0, 5, 1) + hours * 3_600_000).toISOString();
    /** The kinds of what is shown of messages of some hours, read at another, after reminders. */
    function kinds(sent: number[], readAt: number, reminded: number[] = []): string {
      const messages = sent.map((hours) => ({ at: isoAt(hours) }));
      const items = transcript(messages, (message) => message.at, Date.parse(isoAt(readAt)));
      return withReminders(items, reminded.map(isoAt))
        .map(({ kind }) => kind)
        .join(' ');
    }

    it.each([
      ['begins with the notice that Solace is an AI', [], 0, 'aiNotice'],
      ['begins with it below the day', [0], 0, 'day aiNotice message'],
      [
        'repeats it before a message after three hours',
        [0, 2, 3.5],
        3.6,
        'day aiNotice message message aiNotice message',
      ],
      ['repeats it at the end after three hours', [0], 4, 'day aiNotice message aiNotice'],
    ])('%s', (_, sent, readAt, expected) => {
      expect(kinds(sent, readAt)).toBe(expected);
    });

    it.each([
      [[0], [3], 'day aiNotice message aiNotice'],
      [[0, 3.5], [3], 'day aiNotice message aiNotice message'],
      [[0, 2], [3], 'day aiNotice message message aiNotice'],
      [[0, 6.5], [3], 'day aiNotice message aiNotice aiNotice message'],
      // The order of the server counts, not that of clocks.
      [[2, 1, 4], [3], 'day aiNotice message message aiNotice message'],
      [[], [3, 6], 'aiNotice aiNotice aiNotice'],
    ])(
      'shows to messages of %j the reminders of %j in place, and no notice soon after',
      (sent, reminded, expected) => {
        expect(kinds(sent, 0, reminded)).toBe(expected);
      },
    );
  });
});

it.each([
  ['{"type":"usageUpdate","count":7}', { type: 'usageUpdate', count: 7 }],
  ['{"type":"subscription_update"}', { type: 'subscription_update' }],
  ['{"type":"subscriptionChange"}', { type: 'subscriptionChange' }],
  ['{"type":"usageUpdate","count":"7"}', null],
  ['{"type":"usageUpdate"}', null],
  ['{"type":"other"}', null],
  ['null', null],
  ['not json', null],
  ['{"type":"typing","until":null}', { type: 'typing', until: null }],
])('a live stream reads %s', (data, event) => {
  expect(readEvent(data)).toEqual(event);
});

describe('a recording', () => {
  it.each<[browser: string, isSafari: boolean, supported: string[], type: string | undefined]>([
    [
      'Safari before 18.4',
      true,
      ['audio/mp4;codecs=mp4a.40.2', 'audio/mp4'],
      'audio/mp4;codecs=mp4a.40.2',
    ],
    [
      'Safari 18.4',
      true,
      ['audio/webm;codecs=opus', 'audio/mp4;codecs=mp4a.40.2'],
      'audio/mp4;codecs=mp4a.40.2',
    ],
    [
      'Firefox',
      false,
      ['audio/ogg;codecs=opus', 'audio/webm;codecs=opus'],
      'audio/ogg;codecs=opus',
    ],
    ['Chromium', false, ['audio/webm;codecs=opus', 'audio/mp4'], 'audio/webm;codecs=opus'],
    ['another browser', false, ['audio/mp4'], undefined],
  ])('has in %s a type that plays everywhere', (_browser, isSafari, supported, type) => {
    expect(recordingType(isSafari, (each) => supported.includes(each))).toBe(type);
  });

  it.each([
    ['NotAllowedError', 'denied'],
    ['NotFoundError', 'missing'],
    ['NotReadableError', 'busy'],
    ['AbortError', 'busy'],
    ['NetworkError', 'network'],
    ['', 'unsupported'],
  ])('is refused with %s as %s', (name, problem) => {
    expect(microphoneProblem(name)).toBe(problem);
  });

  it('shows its time in minutes and seconds', () => {
    expect([0, 7.9, 60, 119.99, -1].map(clockText)).toEqual([
      '0:00',
      '0:07',
      '1:00',
      '1:59',
      '0:00',
    ]);
  });

  it('has a level of 0 in silence, about a half in speech and at most 1', () => {
    const level = (loudness: number) => levelOf(new Float32Array(64).fill(loudness));
    expect(level(0)).toBe(0);
    expect(level(0.1)).toBeCloseTo(0.5, 1);
    expect(level(1)).toBe(1);
  });
});
