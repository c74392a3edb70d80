import { vi } from 'vitest';

type LogLine = { level: 'info' | 'error'; event: string; requestId?: string; [field: string]: unknown };

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

/** The database requests of a call until its response, as the call's own line of the log counts them. */
export function costOf({ headers }: { headers: Headers }): number {
  const requestId = headers.get('x-request-id');
  const line = logLines().find((each) => each.requestId === requestId);
  if (!line) throw new Error(`The log has no line of request ${requestId}`);
  return line['databaseRequests'] as number;
}
