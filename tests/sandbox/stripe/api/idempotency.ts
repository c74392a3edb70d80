import { createHash } from 'node:crypto';
import type { Store } from '../../store.ts';
import { day } from '../interval.ts';
import { realSeconds } from '../clock.ts';
import type { Answer } from './index.ts';

type Request = { key: string | null; path: string; text: string };
type Kept = Answer & { path: string; digest: string; at: number };

const collection = 'stripe/idempotency_keys';

/** Answers a repeated request as the first time; a key lives for a day. Refused parameters are not remembered, as at Stripe. */
export function once(store: Store, request: Request, run: () => Answer): Answer & { replayed: boolean } {
  const { key, path, text } = request;
  if (!key) return { ...run(), replayed: false };
  const digest = createHash('sha256').update(text).digest('hex');
  const kept = store.get<Kept>(collection, key);
  if (kept && kept.at + day > realSeconds()) {
    const isSame = kept.path === path && kept.digest === digest;
    return isSame ? { status: kept.status, body: kept.body, replayed: true } : { ...misused(key), replayed: false };
  }
  const answer = run();
  const isRemembered = answer.status < 400 || answer.status === 402;
  if (isRemembered) store.put(collection, key, { ...answer, path, digest, at: realSeconds() } satisfies Kept);
  return { ...answer, replayed: false };
}

function misused(key: string): Answer {
  const message = `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`;
  return { status: 400, body: { error: { type: 'idempotency_error', message } } };
}
