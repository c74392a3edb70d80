import type { Traffic } from '../db.ts';
import { log } from '../log.ts';
import type { Problem } from '../problem.ts';
import { codeOf } from './failure.ts';

/** What one request is answered with besides its body, and what it leaves in the log. */
export class Exchange {
  readonly requestId = crypto.randomUUID();
  readonly traffic: Traffic = { requests: 0, unreachable: false };
  /** What the answer carries beside the API's headers. */
  readonly headers: Record<string, string> = { 'x-request-id': this.requestId };
  readonly #started = Date.now();
  /** The route's pattern, never the address that was called. */
  route = 'none';
  /** The tag of the number that the call is about. */
  phone: Promise<string> | undefined;
  failure: Problem | undefined;
  /** Where an error came from that nobody expected. */
  surprise: Record<string, unknown> | undefined;

  async log(method: string, status: number): Promise<void> {
    const { requestId, route, traffic, failure, surprise } = this;
    const phone = await this.phone;
    log(surprise ? 'error' : 'info', 'request', {
      requestId,
      method,
      route,
      status,
      ms: Date.now() - this.#started,
      databaseRequests: traffic.requests,
      ...(phone && { phone }),
      ...(failure && { code: codeOf(failure.problem) }),
      ...(surprise && { surprise }),
    });
  }
}
