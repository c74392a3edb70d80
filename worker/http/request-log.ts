import type { Traffic } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import type { RequestError } from '../lib/request-error.ts';
import { codeOf } from './error-response.ts';

/**
 * The log line of a request: `request_completed`, or `request_failed` after an unexpected error. `ms`
 * is the time until the response, `databaseRequests` their number, `code` the contract's code of the error.
 */
export class RequestLog {
  readonly requestId: string;
  readonly traffic: Traffic = { requests: 0, unreachable: false };
  readonly #started = Date.now();
  /** The route's pattern, never the address that was called. */
  route = 'none';
  /** The tag of the request's phone number. */
  phone: Promise<string> | undefined;
  error: RequestError | undefined;
  /** The origin of an unexpected error. */
  unexpected: Record<string, unknown> | undefined;

  constructor(requestId: string) {
    this.requestId = requestId;
  }

  async write(method: string, status: number): Promise<void> {
    const { requestId, route, traffic, error, unexpected } = this;
    const phone = await this.phone;
    log(unexpected ? 'error' : 'info', unexpected ? 'request_failed' : 'request_completed', {
      requestId,
      method,
      route,
      status,
      ms: Date.now() - this.#started,
      databaseRequests: traffic.requests,
      ...(phone && { phone }),
      ...(error && { code: codeOf(error.errorName) }),
      ...(unexpected && { unexpected }),
    });
  }
}
