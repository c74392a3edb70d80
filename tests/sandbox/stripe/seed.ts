import { readFileSync } from 'node:fs';
import type { Stripe } from 'stripe';
import * as v from 'valibot';

/** Requests in their order: each posts a body to a path of the API, and may name what it gets. */
const Seed = v.array(
  v.strictObject({
    post: v.string(),
    body: v.optional(v.record(v.string(), v.unknown()), {}),
    /** A later request says `{name}` for the id of what this one has made. */
    as: v.optional(v.string()),
  }),
);

/**
 * Posts what a seed file says. Each request has an idempotency key of its own, so that a second start makes nothing
 * twice. Throws with the request that was refused.
 */
export async function applySeed(stripe: Stripe, file: string): Promise<void> {
  const ids = new Map<string, string>();
  for (const [index, { post, body, as }] of v
    .parse(Seed, JSON.parse(readFileSync(file, 'utf8')))
    .entries()) {
    const text = JSON.stringify(body).replaceAll(
      /\{(\w+)\}/g,
      (all, name: string) => ids.get(name) ?? all,
    );
    const made = (await stripe
      .rawRequest('POST', `/v1/${post}`, JSON.parse(text), { idempotencyKey: `seed-${index}` })
      .catch((error: Error) => {
        throw new Error(`Request ${index + 1} of ${file}, ${post}: ${error.message}`);
      })) as { id: string };
    if (as) ids.set(as, made.id);
  }
}
