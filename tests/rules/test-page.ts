import { expect, vi } from 'vitest';
import { session } from '../../web/data/session.ts';
import { toasts } from '../../web/data/toasts.ts';

/** Bodies by method and path. A call without one does not reach the server. */
export let responses: Record<string, object>;
export let asked: string[];

export function stubGlobals(globals: object): void {
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
}

/** Gives this process what a page has: empty storages, a server, and timers that wait for the test. */
export function openTestPage(): void {
  [responses, asked] = [{}, []];
  const page = new EventTarget();
  stubGlobals({
    localStorage: emptyArea(),
    sessionStorage: emptyArea(),
    addEventListener: page.addEventListener.bind(page),
    dispatchEvent: page.dispatchEvent.bind(page),
    async fetch(path: string, { method }: RequestInit) {
      const call = `${method} ${path}`;
      asked.push(call);
      if (!responses[call]) throw new TypeError('No network');
      return Response.json(responses[call]);
    },
  });
  vi.spyOn(session, 'subscribe');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
}

export function closeTestPage(): void {
  session.follow(null);
  for (const { value: unsubscribe } of vi.mocked(session.subscribe).mock.results) unsubscribe();
  toasts.take();
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
}

function emptyArea() {
  const values = new Map<string, string>();
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => values.set(key, value),
    removeItem: (key: string) => values.delete(key),
  };
}

/** Waits until `check` passes. The page's clock stands still. */
export const eventually = (check: () => void) =>
  vi.waitFor(check, { interval: 0, timeout: 10_000 });

/** Expects these calls of a function, which may come later. */
export const expectCalls = (called: object, count: number) =>
  eventually(() => expect(called).toHaveBeenCalledTimes(count));
