import { and, eq, inArray, sql, type SQL } from 'drizzle-orm';
import { botCalls } from '#db/schema';
import { RequestError } from '../lib/request-error.ts';
import { build, insertSelect, isIn } from '../lib/sql.ts';
import {
  Transaction,
  type Decision,
  type FactsOf,
  type FactsSql,
  type Place,
  type Reads,
} from '../lib/transaction.ts';
import type { Scope } from '../request-scope.ts';
import type { BotCall } from './signed-call.ts';

export type SignedCall = Scope<'db' | 'now'> & { botCall: BotCall };

/**
 * A transaction of a signed call, whose decision stays: the same call
 * again finds its outcome and facts, and applies nothing. A refusal of
 * `forgotten` may become another outcome when the call is repeated.
 */
export async function botTransaction<
  Facts extends FactsSql,
  Listed extends string,
  Last extends string,
>(
  call: SignedCall,
  decision: Decision<Facts, Listed, Last> & { forgotten: NoInfer<Listed | Last>[] },
  guard?: Guard,
): Promise<BotTransaction<Listed | Last, FactsOf<Facts>>> {
  const id = crypto.randomUUID();
  const [fingerprint, names] = await Promise.all([
    call.botCall.fingerprint(),
    call.botCall.storedIds(),
  ]);
  const place = stored(call, {
    id,
    names,
    fingerprint,
    forgotten: decision.forgotten,
  });
  return new BotTransaction(call, decision as never, { id, fingerprint, place, guard });
}

/**
 * A statement that every call of a transaction reads,
 * and what throws if its rows may not be believed.
 */
export type Guard = { rows: Reads[string]; check: (rows: unknown) => Promise<void> };

type Stored = {
  id: string;
  names: string[];
  fingerprint: string;
  forgotten: string[];
};

/**
 * The row of a call, by one of its names; only the transaction that
 * inserted it has its `by`. Of a repeated call `own` is no row, so that
 * no effect holds.
 */
function stored({ now }: SignedCall, { id, names, fingerprint, forgotten }: Stored): Place {
  const { outcome, facts, by } = botCalls;
  const isNamed = isIn(botCalls.id, names);
  const own = and(isNamed, eq(by, id))!;
  const known = sql`(select ${botCalls.id} from ${botCalls} where ${isNamed})`;
  const row = {
    id: sql`coalesce(${known}, ${names[0]})`,
    fingerprint,
    by: id,
    at: now,
  };
  return {
    outcome,
    facts,
    row: own,
    insert: (decided, from) => sql`
      ${insertSelect(botCalls, { ...row, ...decided }, from)} where true
      on conflict (id) do update set id = excluded.id
      returning ${outcome}, ${facts} as facts, ${botCalls.fingerprint}, ${by}`,
    ...(forgotten.length > 0 && {
      end: sql`delete from ${botCalls} where ${and(own, inArray(outcome, forgotten))}`,
    }),
  };
}

type Own = {
  id: string;
  fingerprint: string;
  place: Place;
  guard: Guard | undefined;
};

type CallRow = { fingerprint: string; by: string };

export class BotTransaction<Outcome extends string, Facts> extends Transaction<
  Outcome,
  Facts,
  CallRow
> {
  readonly #botCall: BotCall;
  readonly #fingerprint: string;
  readonly #guard: Guard | undefined;
  readonly #row: SQL;

  constructor(
    { db, botCall }: SignedCall,
    decision: Decision<FactsSql, string, Outcome>,
    { id, fingerprint, place, guard }: Own,
  ) {
    super(db, decision, id, place);
    this.#botCall = botCall;
    this.#fingerprint = fingerprint;
    this.#guard = guard;
    this.#row = place.row;
  }

  /** Lets the same call apply again: what it was to do has failed. */
  forget(): SQL {
    return build.delete(botCalls).where(this.#row).getSQL();
  }

  /**
   * As `run`; `isFirst` says that the effects were applied
   * now. Throws `idReused` for another body or path.
   */
  async apply<Named extends Reads = Reads>(reads?: Named) {
    const guarded = this.#guard ? { ...reads, guard: this.#guard.rows } : reads;
    const result = await this.run(guarded as Named | undefined);
    const { fingerprint, by } = result.row;
    if (fingerprint !== this.#fingerprint) {
      const earlier = await this.#botCall.earlierFingerprints();
      if (!earlier.includes(fingerprint)) throw new RequestError('idReused');
    }
    await this.#guard?.check((result.reads as { guard?: unknown }).guard);
    return { ...result, isFirst: by === this.id };
  }
}
