import { beforeEach, expect, it, vi } from 'vitest';
import type { Profile } from '../../worker/contract/schemas.ts';
import type { LiveSocket } from '../../worker/live/live-socket.ts';
import { liveStream } from '../../worker/live/live-stream.ts';

const second = 1000;
const profile: Profile = {
  phoneNumber: '+15551234567',
  status: 'approved',
  isTrial: false,
  messagesUsedThisPeriod: 3,
  metadata: {
    subscriptionTier: 'free',
    messagesUsedThisPeriod: 3,
    subscriptionStatus: 'active',
    renewalDate: null,
    cancelAtDate: null,
    scheduledDowngradeTierId: null,
  },
};
const decoder = new TextDecoder();

beforeEach(() => {
  vi.useFakeTimers();
});

/** Opens a stream that nothing is published to; returns the times (unix ms) of its heartbeats. */
function openIdle(): number[] {
  const beats: number[] = [];
  const socket = { listen: () => undefined, ping: () => undefined, close: () => undefined } as unknown as LiveSocket;
  const total = { seq: 1, used: 3, resetsAt: null };
  const { body } = liveStream({
    socket,
    expiresAt: Infinity,
    profile,
    total,
    signal: new AbortController().signal,
  });
  void body!.pipeTo(
    new WritableStream({
      write: (chunk) => {
        if (decoder.decode(chunk).startsWith(':')) beats.push(Date.now());
      },
    }),
  );
  return beats;
}

it('a stream that waits writes at least every 20 seconds', async () => {
  const opened = Date.now();
  const beats = openIdle();
  await vi.advanceTimersByTimeAsync(120 * second);
  const gaps = beats.map((at, index) => at - (beats[index - 1] ?? opened));
  expect(beats.length).toBeGreaterThanOrEqual(6);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(20 * second);
});
