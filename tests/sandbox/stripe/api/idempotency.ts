import { createHash } from 'node:crypto';
import type { Store } from '../../store.ts';
import { day } from '../interval.ts';
import { realSeconds } from '../clock.ts';
import type { Answer } from './call.ts';

type Request = { id: string | null; key: string | null; path: string; text: string };
type Kept = Answer & { path: string; digest: string; at: number; request: string | null };
type Outcome = Answer & { replayOf?: string | null };

const collection = 'stripe/idempotency_keys';
const longestKey = 255;

/**
 * Runs a request once for each key. A repeated request gets the stored response for a day, 500s included. Refused
 * parameters are not stored, and a key whose first request still runs is refused with 409.
 */
export function createIdempotency(store: Store) {
  const running = new Set<string>();

  return async function once(request: Request, run: () => Promise<Answer>): Promise<Outcome> {
    const { id, key, path, text } = request;
    if (key === null) return run();
    if (key.length < 1 || key.length > longestKey) return wrongLength(key);
    const digest = createHash('sha256').update(text).digest('hex');
    const kept = store.get<Kept>(collection, key);
    if (kept && kept.at + day > realSeconds()) {
      const isSame = kept.path === path && kept.digest === digest;
      return isSame ? { status: kept.status, body: kept.body, replayOf: kept.request } : misused(key);
    }
    if (running.has(key)) return inUse(key);
    running.add(key);
    try {
      const answer = await run();
      if (isStored(answer)) {
        store.put(collection, key, { ...answer, path, digest, at: realSeconds(), request: id } satisfies Kept);
      }
      return answer;
    } finally {
      running.delete(key);
    }
  };
}

/** Stripe stores a response once the endpoint has begun to work, that is after it has accepted the parameters. */
function isStored({ status, body }: Answer): boolean {
  if (status !== 400) return status !== 401 && status !== 409 && status !== 429;
  const { code, param } = (body as { error?: { code?: string; param?: string } }).error ?? {};
  return param === undefined || code === 'resource_missing';
}

function wrongLength(key: string): Answer {
  return refusal(
    400,
    `Idempotent key length is ${key.length} characters long, which is outside accepted lengths. Idempotent Keys must be 1-${longestKey} characters long. If you're looking for a decent generator, try using a UUID defined by IETF RFC 4122.`,
  );
}

function misused(key: string): Answer {
  return refusal(
    400,
    `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
  );
}

function inUse(key: string): Answer {
  return refusal(
    409,
    `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}. Please try again later.`,
    'idempotency_key_in_use',
  );
}

function refusal(status: number, message: string, code?: string): Answer {
  return { status, body: { error: { type: 'idempotency_error', message, ...(code && { code }) } } };
}
