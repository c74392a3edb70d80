import { vi } from 'vitest';

export type DatabaseRequest = { at: number; writes: boolean; text: string };

const realFetch = globalThis.fetch;
const writes = /"sql":"\s*(insert into|update|delete from) (\\")?customers/i;

/**
 * The Worker's requests to the database from now on, and whether they write customers: all of them, or those that
 * contain one of the marks, such as the phone and the id of a user.
 */
export function watchDatabase(...marks: string[]): DatabaseRequest[] {
  const requests: DatabaseRequest[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    if (request.url.endsWith('/pipeline')) {
      const text = await request.clone().text();
      if (marks.length === 0 || marks.some((mark) => text.includes(mark)))
        requests.push({ at: Date.now(), writes: writes.test(text), text });
    }
    return realFetch(request);
  });
  return requests;
}
