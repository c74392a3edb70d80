import type { Traffic } from '../db.ts';
import type { Problem } from '../problem.ts';
import { log } from '../log.ts';
import { codeOf } from './answer.ts';

type Line = {
  requestId: string;
  method: string;
  route: string;
  status: number;
  ms: number;
  traffic: Traffic;
  failure: Problem | null;
  surprise: unknown;
};

/** One line per request: the route's pattern, never the address, a body, a token or a number. */
export function logRequest({ requestId, method, route, status, ms, traffic, failure, surprise }: Line): void {
  log(surprise ? 'error' : 'info', 'request', {
    requestId,
    method,
    route,
    status,
    ms,
    databaseRequests: traffic.requests,
    ...(failure && { code: codeOf(failure.problem) }),
    ...(surprise ? { surprise } : {}),
  });
}
