import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** What goes on by itself once it is started. */
const starter =
  /\b(?:setInterval|setTimeout|getUserMedia|watchPosition)\(|new (?:EventSource|MediaRecorder|Audio|AudioContext|WebSocket|Worker|BroadcastChannel)\(/g;

const startsIn = (text: string): number => (text.match(starter) ?? []).length;

type Ending = { starts: number; ends: string; by: string };

/** By the page that started it: `by` is the text that ends it, in this file or in the one named before the colon. */
const endedBy = (starts: number, by: string): Ending => ({
  starts,
  ends: 'with its page',
  by,
});
/** By itself: `by` bounds it. */
const endsAlone = (starts: number, by: string): Ending => ({
  starts,
  ends: 'by itself',
  by,
});

/**
 * Every file that starts something, and what ends it. A new one belongs into `web/data/running-work.ts`, or into an effect
 * that ends it.
 */
const files: Record<string, Ending> = {
  'web/app/account-unreached.tsx': endedBy(1, 'clearTimeout(timer)'),
  'web/start/leave-offline.ts': endsAlone(1, 'clearTimeout(timer)'),
  'web/start/after-paint.ts': endsAlone(1, 'setTimeout(loadApp, 1000)'),
  'web/start/mount.tsx': endsAlone(2, 'setTimeout(resolve, ms)'),
  'web/app/service-worker.ts': endsAlone(1, 'setTimeout(reject, helpTimeoutMs)'),
  'web/start/hold-app.ts': endsAlone(1, 'setTimeout(resolve, ms)'),
  'web/start/typed-input.ts': endsAlone(1, 'setTimeout(sendAgain, 0, sent)'),
  'web/app/connect-router.ts': endsAlone(1, 'setTimeout(open, streamRetryMs)'),
  'web/app/toaster.tsx': endedBy(1, 'clearTimeout(timer)'),
  'web/data/reply-lookup.ts': endedBy(1, "runningWork.add('looking for a reply'"),
  'web/data/use-conversation.ts': endedBy(1, 'isEnded = true'),
  'web/data/event-stream.ts': endedBy(4, 'clearTimeout(this.#timer)'),
  'web/data/help-countries.ts': endsAlone(1, 'clearTimeout(timer)'),
  'web/data/expiry.ts': endedBy(1, 'clearTimeout(timer)'),
  'web/data/microphone.ts': endedBy(
    1,
    "web/data/voice-draft.ts: runningWork.add('microphone question'",
  ),
  'web/data/loudness-meter.ts': endedBy(1, 'web/data/recorder.ts: this.#meter.close()'),
  'web/data/recorder.ts': endedBy(3, "web/data/voice-draft.ts: runningWork.add('recorder'"),
  'web/data/save-file.ts': endsAlone(1, 'URL.revokeObjectURL(url), readableMs'),
  'web/data/fetch-in-time.ts': endsAlone(1, 'clearTimeout(timer)'),
  'web/data/session-stream.ts': endsAlone(1, 'setTimeout(() => {'),
  'web/data/voice-player.ts': endedBy(1, "runningWork.add('player'"),
  'web/data/promise-limit.ts': endsAlone(1, 'clearTimeout(timer)'),
  'web/pages/account/portals.ts': endsAlone(1, 'location.assign(url)'),
  'web/pages/chat/chat-page.tsx': endedBy(1, 'clearTimeout'),
  'web/pages/chat/conversation-effects.ts': endedBy(2, 'clearTimeout(timer)'),
  'web/pages/chat/print-conversation.ts': endsAlone(1, 'setTimeout(resolve)'),
  'web/pages/chat/voice-panel.tsx': endedBy(1, 'clearInterval(timer)'),
  'web/pages/contact/contact-message.ts': endsAlone(1, 'simulatedDelayMs'),
  'web/pages/login/use-code-state.ts': endedBy(1, 'clearTimeout(timer)'),
  'web/pages/login/missing-code.tsx': endedBy(1, 'clearTimeout(timer)'),
  'web/pages/login/use-lockout.ts': endedBy(1, 'clearInterval(timer)'),
  'web/pages/login/use-polling.ts': endedBy(1, 'clearTimeout(timer)'),
  'web/pages/results/checkout-result.tsx': endedBy(1, 'clearTimeout(timer)'),
  'web/ui/spinner.tsx': endedBy(1, 'clearTimeout(timer)'),
};

const read = (file: string) => readFileSync(file, 'utf8');
const sources = globSync('web/{app,data,pages,rules,start,ui}/**/*.{ts,tsx}');

it('finds what is started', () => {
  expect(startsIn('setInterval(tick, 1); new EventSource(address); await getUserMedia({})')).toBe(
    3,
  );
  expect(sources.length).toBeGreaterThan(100);
});

it('every timer, stream, recorder and player is in the list, with what ends it', () => {
  const found = sources.flatMap((file) => {
    const starts = startsIn(read(file));
    return starts > 0 ? [[file, starts] as const] : [];
  });
  const listed = Object.entries(files).map(([file, { starts }]) => [file, starts] as const);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(listed));
});

it.each(Object.entries(files))('what %s starts has its end', (file, { by }) => {
  const [, place = file, text = by] = /^(web\/\S+): (.+)$/.exec(by) ?? [];
  expect(read(place)).toContain(text);
});

it('an interval never goes on by itself', () => {
  const alone = Object.entries(files).filter(([, { ends }]) => ends === 'by itself');
  for (const [file] of alone) expect(read(file), file).not.toContain('setInterval(');
});
