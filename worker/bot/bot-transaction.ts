import { and, eq, inArray } from 'drizzle-orm';
import { botCalls } from '#db/schema';
import { RequestError } from '../lib/request-error.ts';
import { insertSelect, isIn } from '../lib/sql.ts';
import {
  Transaction,
  type Decision,
  type FactsOf,
  type FactsSql,
  type DecisionRow,
  type Reads,
  type Results,
} from '../lib/transaction.ts';
import { sql } from '../lib/sql-text.ts';
import type { Scope } from '../request-scope.ts';
import type { BotCall } from './signed-call.ts';

export type SignedCall = Scope<'db' | 'now'> & { botCall: BotCall };

/**
 * A transaction of a signed call, whose decision stays in `bot_calls` for seven days
 * (`delete-expired.ts`): the same call again finds its outcome and facts, and writes nothing. Its
 * `reads` are read again. While the row stays, the same id with another body or path writes
 * nothing and is 409 `idReused`. An `unstored` outcome leaves no row: any call with its id decides.
 */
export async function botTransaction<
  Facts extends FactsSql,
  Listed extends string,
  Last extends string,
  Other extends string = never,
>(
  scope: SignedCall,
  decision: BotDecision<Facts, Listed, Last, Other>,
  guard?: Guard,
): Promise<BotTransaction<Listed | Last, FactsOf<Facts>, Other>> {
  const id = crypto.randomUUID();
  const { unstored, others = [] } = decision;
  const [fingerprint, names] = await Promise.all([
    scope.botCall.fingerprint(),
    scope.botCall.storedIds(),
  ]);

  const decisionRow = stored(scope, { id, names, fingerprint, unstored });

  return new BotTransaction(scope, decision as never, {
    id,
    fingerprint,
    decisionRow,
    guard,
    others,
  });
}

type BotDecision<
  Facts extends FactsSql,
  Listed extends string,
  Last extends string,
  Other extends string,
> = Decision<Facts, Listed, Last> & {
  /**
   * Outcomes that leave no row in `bot_calls`; their effects stay. The same call decides anew.
   */
  unstored: NoInfer<Listed | Last>[];
  /** What another transaction of the same call may have stored; its facts are null. */
  others?: Other[];
};

export type Applied<Outcome, Facts, Other extends string, Named extends Reads> = {
  by: string;
  reads: Results<Named>;
} & (
  | { outcome: Outcome; facts: Facts; isFirst: boolean }
  | {
      [Each in Other]: {
        outcome: Each;
        facts: null;
        isFirst: false;
      };
    }[Other]
);

export type Guard = {
  rows: Reads[string];
  check: (rows: unknown) => Promise<void>;
};

type StoredOptions = {
  id: string;
  names: string[];
  fingerprint: string;
  unstored: string[];
};

/**
 * The row of a call, by one of its names; only the transaction that inserted it
 * has its `by`. The row of a repeated call has the first one's: none of its effects
 * finds an outcome, and none is written.
 */
function stored(
  { now }: SignedCall,
  { id, names, fingerprint, unstored }: StoredOptions,
): DecisionRow {
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
    // An update that changes nothing, since `do nothing` returns no row.
    // Without `where true` SQLite reads `on conflict` as a join's.
    insert: (decided, source) => sql`
      ${insertSelect(botCalls, { ...row, ...decided }, source)} where true
      on conflict (id) do update set id = excluded.id
      returning ${outcome}, ${facts} as facts, ${botCalls.fingerprint}, ${by}`,
    ...(unstored.length > 0 && {
      end: sql`delete from ${botCalls} where ${and(own, inArray(outcome, unstored))}`,
    }),
  };
}

type Own<Other> = {
  id: string;
  fingerprint: string;
  decisionRow: DecisionRow;
  guard: Guard | undefined;
  others: Other[];
};

type CallRow = { fingerprint: string; by: string };

export class BotTransaction<
  Outcome extends string,
  Facts,
  Other extends string = never,
> extends Transaction<Outcome, Facts, CallRow> {
  readonly #botCall: BotCall;
  readonly #fingerprint: string;
  readonly #guard: Guard | undefined;
  readonly #others: string[];

  constructor(
    { db, botCall }: SignedCall,
    decision: Decision<FactsSql, string, Outcome>,
    { id, fingerprint, decisionRow, guard, others }: Own<Other>,
  ) {
    super(db, decision, id, decisionRow);
    this.#botCall = botCall;
    this.#fingerprint = fingerprint;
    this.#guard = guard;
    this.#others = others;
  }

  /** `isFirst`: the effects were applied now. Throws `idReused`. */
  async apply<Named extends Reads = Reads>(
    reads?: Named,
  ): Promise<Applied<Outcome, Facts, Other, Named>> {
    const guarded = this.#guard ? { ...reads, guard: this.#guard.rows } : reads;
    const result = await this.run(guarded as Named | undefined);

    const { fingerprint, by } = result.row;
    if (fingerprint !== this.#fingerprint) {
      const earlier = await this.#botCall.earlierFingerprints();
      if (!earlier.includes(fingerprint)) throw new RequestError('idReused');
    }

    await this.#guard?.check((result.reads as { guard?: unknown }).guard);

    const facts = this.#others.includes(result.outcome) ? null : result.facts;
    const applied = { ...result, facts, by, isFirst: by === this.id };
    return applied as Applied<Outcome, Facts, Other, Named>;
  }
}
