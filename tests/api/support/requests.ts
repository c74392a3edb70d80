import { onTestFinished, vi } from 'vitest';
import { until } from './clock.ts';

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
  const present = globalThis.fetch;
  const real = vi.isMockFunction(present) ? present.getMockImplementation()! : present;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const text = `${request.method} ${decodeURIComponent(request.url)}\n${await request.clone().text()}`;
    if (state.isReleased || !marks.every((mark) => text.includes(mark))) return real(request);
    state.held += 1;
    await until('the release of the request', () => state.isReleased);
    // The time limit of the Worker has run while the request was held.
    const response = await real(new Request(request, { signal: null }));
    if (state.isLost) throw new TypeError('The response is lost');
    return response;
  });
  const arrived = (count = 1) =>
    until(
      `${count} requests with ${marks.join(', ')}`,
      () => state.held,
      (held) => held >= count,
    );
  return { arrived, release };
}

type DatabaseRequest = { at: number; writes: boolean; text: string };

const realFetch = globalThis.fetch;
const writes = /"sql":"\s*(insert into|update|delete from) (\\")?customers/i;

/**
 * The Worker's requests to the database from now on that contain one of the marks, such as the phone and the id of a
 * user, and whether they write customers.
 */
export function watchDatabase(...marks: [string, ...string[]]): DatabaseRequest[] {
  const requests: DatabaseRequest[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    if (request.url.endsWith('/pipeline')) {
      const text = await request.clone().text();
      if (marks.some((mark) => text.includes(mark))) requests.push({ at: Date.now(), writes: writes.test(text), text });
    }
    return realFetch(request);
  });
  return requests;
}

type Value = { type: string; value?: string | number };
type Sent = { sql?: string; sql_id?: number; args?: Value[] };
export type Statement = { sql: string; args: Value[] };
/** A step of a request to the database. */
export type Step = { sql?: string; sql_id?: number; stmt?: Sent; batch?: { steps: { stmt: Sent }[] } };

/** The statements of a step. A repeated text is stored once and then referenced by its number. */
function statementsIn({ stmt, batch }: Step, requests: Step[]): Statement[] {
  const sent = stmt ? [stmt] : (batch?.steps ?? []).map((step) => step.stmt);
  const textOf = ({ sql, sql_id }: Sent) => sql ?? requests.find((step) => step.sql && step.sql_id === sql_id)!.sql!;
  return sent.map((one) => ({ sql: textOf(one), args: one.args ?? [] }));
}

type Responses = { results: { response: { result?: { step_results?: ({ affected_row_count: number } | null)[] } } }[] };

/** What a call did in the database: the texts of its statements, and the rows that each wrote. `mark` is in each request. */
export async function traceOf(mark: string, work: () => Promise<{ status: number }>) {
  const trace = { status: 0, requests: 0, statements: [] as string[], written: [] as number[] };
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const text = request.url.endsWith('/pipeline') ? await request.clone().text() : '';
    const response = await realFetch(request);
    if (!text.includes(mark)) return response;
    const { requests } = JSON.parse(text) as { requests: Step[] };
    const { results } = await response.clone().json<Responses>();
    trace.requests += 1;
    trace.statements.push(...requests.flatMap((step) => statementsIn(step, requests)).map(({ sql }) => sql));
    const steps = results.flatMap(({ response: { result } }) => result?.step_results ?? []);
    trace.written.push(...steps.map((step) => step?.affected_row_count ?? 0));
    return response;
  });
  trace.status = (await work()).status;
  spy.mockRestore();
  return trace;
}
