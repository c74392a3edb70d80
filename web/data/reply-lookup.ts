import { connectionState } from './event-stream.ts';
import { runningWork } from './running-work.ts';

/** Times after sending at which a page whose stream is silent reads by calls. */
const readTimesMs = [4000, 10_000, 20_000, 35_000, 60_000, 90_000, 120_000];

/** Calls `read` at these times, until the stream brings an event or `isOver` holds. */
export async function lookForReply(isOver: () => boolean, read: () => void): Promise<void> {
  const sentAt = performance.now();
  const eventsBefore = connectionState.get().events;
  let isStopped = false;
  runningWork.stop('looking for a reply');
  runningWork.add('looking for a reply', () => {
    isStopped = true;
  });

  for (const timeMs of readTimesMs) {
    await new Promise((resolve) => setTimeout(resolve, sentAt + timeMs - performance.now()));
    const hasEvents = connectionState.get().events !== eventsBefore;
    if (isStopped || hasEvents || isOver()) return;
    read();
  }
}
