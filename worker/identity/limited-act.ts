import { gt } from 'drizzle-orm';
import { allowedAtSql, recordEvents, type Limited } from '../lib/rate-limits.ts';
import { rateLimited } from '../lib/request-error.ts';
import type { Reads, Results } from '../lib/transaction.ts';
import type { Admitted, Authorized, UserSession } from './user-session.ts';

type Act<Named extends Reads> = Limited & {
  now: number;
  reads: Named;
};

/** `limited`: throws 429, and writes nothing. `counted`: writes a row of `rate_limit_events`. */
export function withinLimit<Named extends Reads, T>(
  session: UserSession,
  { subject, limits, now, reads }: Act<Named>,
  respond: (admitted: Admitted, reads: Results<Named>) => T | Promise<T>,
): Promise<Authorized<T>> {
  return session.decide({
    facts: { mayActAt: allowedAtSql([{ subject, limits }]) },
    outcomes: ({ mayActAt }) => ({ limited: gt(mayActAt, now) }),
    otherwise: 'counted',
    effects: (tx) => recordEvents(tx, ['counted'], [subject], { now }),
    reads,
    respond: ({ outcome, facts, reads: found, ...admitted }) => {
      if (outcome === 'limited') throw rateLimited(facts.mayActAt, now);
      return respond(admitted, found);
    },
  });
}
