import { createHash } from 'node:crypto';
import type { Store } from '../../store.ts';
import { day, realSeconds } from '../clock.ts';
import type { ApiResponse } from '../world.ts';

type Request = { key: string | null; path: string; text: string };
type StoredResponse = ApiResponse & { path: string; digest: string; at: number };
type Outcome = ApiResponse & { isReplay?: true };

const collection = 'stripe/idempotency_keys';
const longestKey = 255;

/**
 * Runs a request once for each key. For a day a repeated request gets the stored response, 500s included. Refused
 * parameters are not stored. While the first request of a key runs, others get 409.
 */
export function createIdempotency(store: Store) {
  const running = new Set<string>();

  return async function runOnce(request: Request, run: () => Promise<ApiResponse>): Promise<Outcome> {
    const { key, path, text } = request;
    if (key === null) return run();
    if (key.length < 1 || key.length > longestKey) return refusal(400, wrongLength(key));
    const digest = createHash('sha256').update(text).digest('hex');
    const stored = store.get<StoredResponse>(collection, key);
    if (stored && stored.at + day > realSeconds()) {
      const isSame = stored.path === path && stored.digest === digest;
      return isSame ? { status: stored.status, body: stored.body, isReplay: true } : refusal(400, reused(key));
    }
    if (running.has(key)) return refusal(409, inUse(key), 'idempotency_key_in_use');
    running.add(key);
    try {
      const response = await run();
      if (isStored(response)) {
        store.put(collection, key, { ...response, path, digest, at: realSeconds() } satisfies StoredResponse);
      }
      return response;
    } finally {
      running.delete(key);
    }
  };
}

/** Stripe stores a response if the endpoint has accepted the parameters. */
function isStored({ status, body }: ApiResponse): boolean {
  if (status !== 400) return status !== 401 && status !== 409 && status !== 429;
  const { code, param } = (body as { error?: { code?: string; param?: string } }).error ?? {};
  return param === undefined || code === 'resource_missing';
}

const wrongLength = ({ length }: string) =>
  `Idempotent key length is ${length} characters long, which is outside accepted lengths. Idempotent Keys must be 1-${longestKey} characters long. If you're looking for a decent generator, try using a UUID defined by IETF RFC 4122.`;
const reused = (key: string) =>
  `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`;
const inUse = (key: string) =>
  `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}. Please try again later.`;

function refusal(status: number, message: string, code?: string): ApiResponse {
  return { status, body: { error: { type: 'idempotency_error', message, ...(code && { code }) } } };
}
