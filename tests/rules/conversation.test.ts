import type { ChatMessage, ChatPage, ChatStreamEvent } from '#contract/chat-schemas';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEvent, conversationOf, withMessage, withOlderPage } from '../../web/rules/conversation-changes.ts';
import { messageParts, shownMessages, transcript, withReminders } from '../../web/rules/transcript.ts';
import { clockText, levelOf, microphoneProblem, recordingType } from '../../web/rules/recording.ts';
import { isUsage, readEvent, reconnectDelay } from '../../web/rules/stream-events.ts';

describe('a conversation', () => {
  const message = (seq: number, facts: Partial<ChatMessage> = {}): ChatMessage => ({
    id: `m${seq}`,
    seq,
    author: 'user',
    text: 'Hi',
    at: '2026-01-05T10:00:00.000Z',
    state: 'sent',
    ...facts,
  });
  const page = (messages: ChatMessage[], facts: Partial<ChatPage> = {}): ChatPage => ({
    success: true,
    revision: messages.length,
    messages,
    hasMore: false,
    typingUntil: null,
    consent: null,
    ...facts,
  });

  describe('the events of a conversation', () => {
    it('change nothing the second time', () => {
      const event: ChatStreamEvent = { type: 'message', message: message(2) };
      const once = applyEvent(conversationOf(page([message(1)])), event, 2);
      expect(applyEvent(once, event, 2)).toEqual(once);
      expect(once.messages.map(({ seq }) => seq)).toEqual([1, 2]);
    });

    it('deliver only what is still sent, up to a message', () => {
      const start = conversationOf(page([message(1, { state: 'failed' }), message(2), message(3)]));
      const { messages } = applyEvent(start, { type: 'state', upTo: 2, state: 'delivered' }, 4);
      expect(messages.map(({ state }) => state)).toEqual(['failed', 'delivered', 'sent']);
    });

    it('end "is writing" with a reply', () => {
      const start = applyEvent(conversationOf(page([])), { type: 'typing', until: '2026-01-05T10:00:20.000Z' }, null);
      expect(start.typingUntil).not.toBeNull();
      expect(withMessage(start, message(1, { author: 'solace', state: 'delivered' })).typingUntil).toBeNull();
    });

    it('show a reply as far as it is written, and nothing of it afterwards', () => {
      const until = '2026-01-05T10:00:20.000Z';
      const typing = (text?: string): ChatStreamEvent => ({ type: 'typing', until, ...(text && { text }) });
      const start = applyEvent(conversationOf(page([message(1)])), typing('Hel'), null);
      expect(start.typed).toBe('Hel');
      const grown = applyEvent(start, typing('Hello'), null);
      expect(grown.typed).toBe('Hello');
      const ends: ChatStreamEvent[] = [
        { type: 'message', message: message(2, { author: 'solace' }) },
        { type: 'typing', until: null },
        { type: 'cleared' },
      ];
      for (const event of ends)
        expect(applyEvent(grown, event, 9), event.type).toMatchObject({ typed: '', typingUntil: null });
      const own = applyEvent(grown, { type: 'message', message: message(2) }, 9);
      expect(own.typed).toBe('Hello');
    });

    it('show each message once and in order, whatever arrives twice or late', () => {
      const events = fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 60 });
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

    it('keep older pages free of doubles', () => {
      const newest = conversationOf(page([message(3), message(4)], { hasMore: true }));
      const all = withOlderPage(newest, page([message(1), message(2), message(3)]));
      expect(all.messages.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
      expect(all.hasMore).toBe(false);
    });
  });

  describe('pending messages', () => {
    it('stand after the stored ones, and once when the server has them', () => {
      const pending = [{ id: 'm2', text: 'Hi', at: '2026-01-05T10:00:00.000Z', state: 'sending' as const }];
      expect(shownMessages([message(1)], pending).map(({ id, seq }) => [id, seq])).toEqual([
        ['m1', 1],
        ['m2', null],
      ]);
      expect(shownMessages([message(1), message(2)], pending).map(({ seq }) => seq)).toEqual([1, 2]);
      expect(shownMessages([message(2, { state: 'failed' })], pending).map(({ state }) => state)).toEqual(['sending']);
    });
  });

  describe('the parts of a message', () => {
    it.each([
      ['plain', [{ kind: 'text', text: 'plain' }]],
      [
        '*bold* and _italic_',
        ['bold', ' and ', 'italic'].map((text, index) => ({ kind: ['bold', 'text', 'italic'][index], text })),
      ],
      ['2*3*4 snake_case_name', [{ kind: 'text', text: '2*3*4 snake_case_name' }]],
      ['<script>alert(1)</script>', [{ kind: 'text', text: '<script>alert(1)</script>' }]],
      ['javascript:alert(1)', [{ kind: 'text', text: 'javascript:alert(1)' }]],
      [
        'See https://a.example/x.',
        [
          { kind: 'text', text: 'See ' },
          { kind: 'link', text: 'https://a.example/x', href: 'https://a.example/x' },
          { kind: 'text', text: '.' },
        ],
      ],
    ])('of %s', (text, parts) => {
      expect(messageParts(text)).toEqual(parts);
    });

    it('lose no character but the marks', () => {
      fc.assert(
        fc.property(fc.string({ unit: 'grapheme' }), (text) => {
          const joined = messageParts(text)
            .map((part) =>
              part.kind === 'bold' ? `*${part.text}*` : part.kind === 'italic' ? `_${part.text}_` : part.text,
            )
            .join('');
          expect(joined).toBe(text);
        }),
      );
    });
  });

  describe('the transcript', () => {
    const at = (hours: number) => ({ at: new Date(Date.UTC(2026, 0, 5, 1) + hours * 3_600_000).toISOString() });
    const kinds = (messages: { at: string }[], nowHours: number) =>
      transcript(messages, ({ at: key }) => key, Date.parse(at(nowHours).at)).map(({ kind }) => kind);

    it('begins with the notice that Solace is an AI', () => {
      expect(kinds([], 0)).toEqual(['notice']);
      expect(kinds([at(0)], 0)).toEqual(['day', 'notice', 'message']);
    });

    it('shows each reminder in its place, and no notice soon after it', () => {
      const items = (sent: number[], reminded: number[]) => {
        const shown = transcript(sent.map(at), ({ at: key }) => key, Date.parse(at(0).at));
        return withReminders(
          shown,
          reminded.map((hours) => at(hours).at),
        ).map(({ kind }) => kind);
      };
      expect(items([0], [3])).toEqual(['day', 'notice', 'message', 'notice']);
      expect(items([0, 3.5], [3])).toEqual(['day', 'notice', 'message', 'notice', 'message']);
      expect(items([0, 2], [3])).toEqual(['day', 'notice', 'message', 'message', 'notice']);
      expect(items([0, 6.5], [3])).toEqual(['day', 'notice', 'message', 'notice', 'notice', 'message']);
      // The order of the server counts, not that of clocks.
      expect(items([2, 1, 4], [3])).toEqual(['day', 'notice', 'message', 'message', 'notice', 'message']);
      expect(items([], [3, 6])).toEqual(['notice', 'notice', 'notice']);
    });

    it('repeats the notice when the last is over three hours old', () => {
      expect(kinds([at(0), at(2), at(3.5)], 3.6)).toEqual(['day', 'notice', 'message', 'message', 'notice', 'message']);
      expect(kinds([at(0)], 4)).toEqual(['day', 'notice', 'message', 'notice']);
    });
  });
});

describe('a live stream', () => {
  it('waits 3 s, doubles, stays below 30 s and gives up after five tries', () => {
    expect([1, 2, 3, 4, 5, 6].map(reconnectDelay)).toEqual([3000, 6000, 12_000, 24_000, 30_000, null]);
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
  ])('reads %s', (data, event) => {
    expect(readEvent(data)).toEqual(event);
  });

  it('tells usage from the conversation', () => {
    expect(isUsage({ type: 'usageUpdate', count: 1 })).toBe(true);
    expect(isUsage({ type: 'subscription_update' })).toBe(true);
    expect(isUsage({ type: 'cleared' })).toBe(false);
  });
});

describe('a recording', () => {
  const types: [browser: string, isSafari: boolean, supported: string[], type: string | undefined][] = [
    ['Safari before 18.4', true, ['audio/mp4;codecs=mp4a.40.2', 'audio/mp4'], 'audio/mp4;codecs=mp4a.40.2'],
    ['Safari 18.4', true, ['audio/webm;codecs=opus', 'audio/mp4;codecs=mp4a.40.2'], 'audio/mp4;codecs=mp4a.40.2'],
    ['Firefox', false, ['audio/ogg;codecs=opus', 'audio/webm;codecs=opus'], 'audio/ogg;codecs=opus'],
    ['Chromium', false, ['audio/webm;codecs=opus', 'audio/mp4'], 'audio/webm;codecs=opus'],
    ['another browser', false, ['audio/mp4'], undefined],
  ];
  it.each(types)('has in %s a type that plays everywhere', (_browser, isSafari, supported, type) => {
    expect(recordingType(isSafari, (each) => supported.includes(each))).toBe(type);
  });

  it.each([
    ['NotAllowedError', 'denied'],
    ['NotFoundError', 'missing'],
    ['NotReadableError', 'busy'],
    ['AbortError', 'busy'],
    ['', 'unsupported'],
  ])('is refused with %s because the microphone is %s', (name, problem) => {
    expect(microphoneProblem(name)).toBe(problem);
  });

  it('shows its time in minutes and seconds', () => {
    expect([0, 7.9, 60, 119.99, -1].map(clockText)).toEqual(['0:00', '0:07', '1:00', '1:59', '0:00']);
  });

  it('has a level of 0 in silence, about a half in speech and at most 1', () => {
    const level = (loudness: number) => levelOf(new Float32Array(64).fill(loudness));
    expect(level(0)).toBe(0);
    expect(level(0.1)).toBeCloseTo(0.5, 1);
    expect(level(1)).toBe(1);
  });
});
