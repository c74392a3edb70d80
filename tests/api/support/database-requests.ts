import { vi } from 'vitest';

export type DatabaseRequest = { at: number; writes: boolean };

const writes = /"sql":"\s*(insert into|update|delete from) (\\")?customers/i;

/** The Worker's requests to the database from now on, and whether they write customers. */
export function watchDatabase(): DatabaseRequest[] {
  const requests: DatabaseRequest[] = [];
  const real = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    if (request.url.endsWith('/pipeline')) {
      const text = await request.clone().text();
      requests.push({ at: Date.now(), writes: writes.test(text) });
    }
    return real(request);
  });
  return requests;
}
