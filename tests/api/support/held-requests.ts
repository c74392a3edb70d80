import { onTestFinished, vi } from 'vitest';
import { until } from './until.ts';

/**
 * Holds the Worker's requests to other services that contain every mark, in their address or body, until they are
 * released. A held request has not been sent, so it is lost if its call is cut off.
 */
export function holdRequests(...marks: string[]) {
  const state = { held: 0, isReleased: false };
  const release = () => void (state.isReleased = true);
  onTestFinished(release);
  const present = globalThis.fetch;
  const real = vi.isMockFunction(present) ? present.getMockImplementation()! : present;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const text = `${request.method} ${decodeURIComponent(request.url)}\n${await request.clone().text()}`;
    if (state.isReleased || !marks.every((mark) => text.includes(mark))) return real(request);
    state.held += 1;
    while (!state.isReleased) await scheduler.wait(10);
    // The time limit of the Worker has run while the request was held.
    return real(new Request(request, { signal: null }));
  });
  const arrived = (count = 1) =>
    until(
      `${count} requests with ${marks.join(', ')}`,
      () => state.held,
      (held) => held >= count,
    );
  return { arrived, release };
}
