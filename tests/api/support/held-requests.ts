import { onTestFinished, vi } from 'vitest';
import { until } from './until.ts';

/**
 * Holds the Worker's requests to other services that contain every mark, in their address or body, until they are
 * released. A held request has not been sent, so it is lost if its call is cut off.
 */
export function holdRequests(...marks: string[]) {
  let held = 0;
  let isReleased = false;
  const release = () => void (isReleased = true);
  onTestFinished(release);
  const present = globalThis.fetch;
  const real = vi.isMockFunction(present) ? present.getMockImplementation()! : present;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const text = `${request.method} ${decodeURIComponent(request.url)}\n${await request.clone().text()}`;
    if (isReleased || !marks.every((mark) => text.includes(mark))) return real(request);
    held += 1;
    while (!isReleased) await scheduler.wait(10);
    // The time limit of the Worker has run while the request was held.
    return real(new Request(request, { signal: null }));
  });
  const arrived = (count = 1) =>
    until(
      `${count} requests with ${marks.join(', ')}`,
      () => held,
      (now) => now >= count,
    );
  return { arrived, release };
}
