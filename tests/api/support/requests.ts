import { expect, onTestFinished, vi } from 'vitest';
import type { Answer } from './api.ts';
import { until } from './clock.ts';

type Send = (request: Request) => Promise<Response>;

/** Lets a handler pass on the Worker's requests to other services, with their text: method, address and body. */
export function intercept(
  handle: (request: Request, text: string, send: Send) => Promise<Response>,
) {
  const present = globalThis.fetch;
  const send: Send = vi.isMockFunction(present) ? present.getMockImplementation()! : present;
  return vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const text = `${request.method} ${decodeURIComponent(request.url)}\n${await request.clone().text()}`;
    return handle(request, text, send);
  });
}

/**
 * Holds the Worker's requests to other services that contain every mark, in their address or body, until they are
 * released. A held request has not been sent, so it is lost if its call is cut off.
 */
export function holdRequests(...marks: string[]) {
  const state = { held: 0, isReleased: false, isLost: false };
  /** With `isLost` the service handles what was held, and its response never arrives. */
  function release({ isLost = false } = {}): void {
    Object.assign(state, { isReleased: true, isLost });
  }
  onTestFinished(() => release());
  intercept(async (request, text, send) => {
    if (state.isReleased || !marks.every((mark) => text.includes(mark))) return send(request);
    state.held += 1;
    await until('the release of the request', () => state.isReleased);
    // The time limit of the Worker has run while the request was held.
    const response = await send(new Request(request, { signal: null }));
    if (state.isLost) throw new TypeError('The response is lost');
    return response;
  });
  const arrived = (count = 1) =>
    until(
      `${count} requests with ${marks.join(', ')}`,
      () => state.held,
      (held) => held >= count,
    );
  return { arrived, release, held: () => state.held };
}

/** The first request to another service that contains every mark never comes back, as if Cloudflare had cut its call off. */
export function cutFirst(...marks: string[]): { arrived: () => Promise<unknown> } {
  let isCut = false;
  intercept(async (request, text, send) => {
    if (isCut || !marks.every((mark) => text.includes(mark))) return send(request);
    isCut = true;
    return new Promise<never>(() => {});
  });
  return { arrived: () => until('the cut', () => isCut) };
}

/** Starts work, and holds its request that contains every mark; `finish` releases it and returns the result. */
export async function startHeld<T>(work: () => Promise<T>, ...marks: string[]) {
  const { arrived, release } = holdRequests(...marks);
  const result = work();
  await arrived();
  const finish = () => {
    release();
    return result;
  };
  return { finish };
}

type DatabaseRequest = {
  at: number;
  writes: boolean;
  text: string;
  written: number[];
};

const writes = /"sql":"\s*(insert into|update|delete from) (\\")?customers/i;

/**
 * The Worker's requests to the database from now on that contain one of the marks, such as the phone and the id of a
 * user: their bodies, whether they write customers, and how many rows each statement wrote.
 */
export function watchDatabase(...marks: [string, ...string[]]): DatabaseRequest[] {
  const requests: DatabaseRequest[] = [];
  intercept(async (request, text, send) => {
    if (!request.url.endsWith('/pipeline') || !marks.some((mark) => text.includes(mark)))
      return send(request);
    const body = text.slice(text.indexOf('\n') + 1);
    const written: number[] = [];
    requests.push({
      at: Date.now(),
      writes: writes.test(body),
      text: body,
      written,
    });
    const response = await send(request);
    const counts = (await response.clone().text()).matchAll(/"affected_row_count":(\d+)/g);
    written.push(...Array.from(counts, ([, count]) => Number(count)));
    return response;
  });
  return requests;
}

type LogLine = {
  level: 'info' | 'error';
  event: string;
  requestId?: string;
  [field: string]: unknown;
};

let calls: unknown[][][] = [];

/** Begins an empty record of the Worker's log; `restore.ts` does so before each test. */
export function recordLog(): void {
  calls = [vi.spyOn(console, 'log').mock.calls, vi.spyOn(console, 'error').mock.calls];
}

/** What the Worker has written since the test began: `console.log` before `console.error`. */
export const logTexts = () => calls.flat().map(([text]) => String(text));

/** The lines of the log among it. */
export function logLines(event?: string): LogLine[] {
  const texts = logTexts().filter((text) => text.startsWith('{'));
  const lines = texts.map((text) => JSON.parse(text) as LogLine);
  return lines.filter((line) => event === undefined || line.event === event);
}

const unavailable = {
  success: false,
  code: 'unavailable',
  message: 'Service temporarily unavailable',
};

/** Expects that a service does not respond, and that the caller is asked to come again. */
export function expectUnavailable({ status, body, headers }: Answer): void {
  expect({ status, body }).toEqual({ status: 503, body: unavailable });
  expect(headers.get('retry-after')).toMatch(/^\d+$/);
}

/** The database requests of a call until its response, as the call's own line of the log counts them. */
export function costOf({ headers }: { headers: Headers }): number {
  const requestId = headers.get('x-request-id');
  const line = logLines().find((each) => each.requestId === requestId);
  if (!line) throw new Error(`The log has no line of request ${requestId}`);
  return line['databaseRequests'] as number;
}
