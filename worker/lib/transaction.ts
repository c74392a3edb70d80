import { and, type SQL, type Subquery } from 'drizzle-orm';
import { sql } from './sql-text.ts';
import type { BatchItem } from 'drizzle-orm/batch';
import type { SQLiteColumn, SQLiteInsertValue, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { decisions } from '#db/schema';
import type { Database } from './database.ts';
import { list, valueOf } from './expressions.ts';
import {
  deleteSql,
  insertSelect,
  updateSql,
  upsertSelect,
  type Changes,
  type Upsert,
} from './sql.ts';

export type FactsSql = Record<string, SQL>;

/** What the expressions of a decision have read. A condition is 1 or 0. */
export type FactsOf<Facts extends FactsSql> = {
  [Name in keyof Facts]: Facts[Name] extends SQL<infer Value> ? Value : never;
};

export type Decision<Facts extends FactsSql, Listed extends string, Last extends string> = {
  /** Read once, before anything is written. */
  facts: Facts;
  /**
   * What the facts are read from, one row. If it has none,
   * nothing is written, and `run` throws.
   */
  from?: SQL;
  /**
   * The outcomes by their conditions on the facts:
   * the first one that holds is the outcome.
   */
  outcomes: (facts: Record<keyof Facts, SQL>) => { [Outcome in Listed]?: SQL | undefined };
  otherwise: Last;
};

export type On<Outcome> = readonly [Outcome, ...Outcome[]];
export type Reads = Record<string, BatchItem<'sqlite'>>;
export type Results<Named extends Reads> = { [Name in keyof Named]: Named[Name]['_']['result'] };

/** `row`: what the decision's row returns beside both. */
type Decided<Outcome, Facts, Named extends Reads, Row> = {
  outcome: Outcome;
  facts: Facts;
  reads: Results<Named>;
  row: Row;
};

/** Where a decision is stored: a row of a table, and what happens to it in the end. */
export type DecisionRow = {
  outcome: SQLiteColumn;
  facts: SQLiteColumn;
  row: SQL;
  /** Stores an outcome and its facts, and returns both; `source` as in `insertSelect`. */
  insert: (decided: { outcome: SQL; facts: SQL }, source: SQL) => SQL;
  end?: SQL;
};

const theRow = sql`${decisions.id} = 1`;

/** The one row of `decisions`, which the last statement of its transaction deletes. */
const temporary: DecisionRow = {
  outcome: decisions.outcome,
  facts: decisions.facts,
  row: theRow,
  insert: (decided, source) => sql`
    replace into ${decisions} (id, outcome, facts)
    select 1, ${decided.outcome}, ${decided.facts} ${source}
    returning ${decisions.outcome}, ${decisions.facts}`,
  end: deleteSql(decisions, theRow),
};

/**
 * Decides one of a few outcomes by what the database holds, and writes what
 * belongs to it: one write transaction in one round trip, whatever the outcome.
 * libSQL serialises writers: a parallel caller waits, and decides by what the first wrote. If its
 * response is lost, the same call again decides anew, unless its `DecisionRow` stays.
 */
export class Transaction<Outcome extends string, Facts, Row = unknown> {
  /** Unique; what the effects write may carry it. */
  readonly id: string;
  readonly #db: Database;
  readonly #decisionRow: DecisionRow;
  /** SQL: the outcome that was decided. */
  readonly outcome: SQL;
  readonly #facts: SQL;
  readonly #statements: BatchItem<'sqlite'>[];
  #hasRun = false;

  constructor(
    db: Database,
    decision: Decision<FactsSql, string, Outcome>,
    id: string = crypto.randomUUID(),
    decisionRow: DecisionRow = temporary,
  ) {
    this.id = id;
    this.#db = db;
    this.#decisionRow = decisionRow;
    this.outcome = valueOf(decisionRow.outcome, decisionRow.row);
    this.#facts = valueOf(decisionRow.facts, decisionRow.row);
    this.#statements = [db.all(decisionSql(decision, decisionRow))];
  }

  fact<Name extends keyof Facts & string>(name: Name): SQL<Facts[Name]> {
    return sql`(${this.#facts} ->> ${sql.raw(`'$.${name}'`)})`;
  }

  insert<Table extends SQLiteTable>(
    on: On<Outcome>,
    table: Table,
    values: SQLiteInsertValue<Table>,
    more: {
      from?: SQL | SQLiteTable | Subquery;
      where?: SQL | undefined;
      upsert?: Upsert<Table>;
    } = {},
  ): void {
    const from = more.from ? sql`from ${more.from}` : sql.empty();
    const where = and(this.#holds(on), more.where);
    const statement = insertSelect(table, values, sql`${from} where ${where}`);
    this.#add(more.upsert ? upsertSelect(statement, table, more.upsert) : statement);
  }

  update<Table extends SQLiteTable>(
    on: On<Outcome>,
    table: Table,
    set: Changes<Table>,
    where: SQL | undefined,
  ): void {
    this.#add(updateSql(table, set, and(where, this.#holds(on))));
  }

  delete(on: On<Outcome>, table: SQLiteTable, where: SQL | undefined): void {
    this.#add(deleteSql(table, and(where, this.#holds(on))));
  }

  /** Also runs `reads`, which see what was written. Throws if it has run before. */
  async run<Named extends Reads = Reads>(
    reads: Named = {} as Named,
  ): Promise<Decided<Outcome, Facts, Named, Row>> {
    const { statements, read } = this.close(reads);
    const [first, ...rest] = statements;
    return read(await this.#db.batch([first!, ...rest]));
  }

  /**
   * The statements for a batch of the caller's, and what
   * reads their results. Throws if it has run before.
   */
  close<Named extends Reads = Reads>(reads: Named = {} as Named) {
    if (this.#hasRun) throw new Error('A transaction runs once');
    this.#hasRun = true;

    const { end } = this.#decisionRow;
    const own = [...this.#statements];
    const statements = [...own, ...Object.values(reads), ...(end ? [this.#db.run(end)] : [])];
    const read = (results: unknown[]): Decided<Outcome, Facts, Named, Row> => {
      const names = Object.keys(reads);
      const named = names.map((name, index) => [name, results[own.length + index]]);
      const [row] = results[0] as [Row & { outcome: Outcome; facts: string }];
      if (this.#db.traffic) this.#db.traffic.outcome = row.outcome;
      return {
        outcome: row.outcome,
        facts: JSON.parse(row.facts) as Facts,
        reads: Object.fromEntries(named) as Results<Named>,
        row,
      };
    };
    return { statements, read };
  }

  #holds(on: On<Outcome>): SQL {
    return sql`${this.outcome} in (${list(on.map(literal))})`;
  }

  #add(statement: SQL): void {
    this.#statements.push(this.#db.run(statement));
  }
}

/** A transaction whose decision leaves no row. */
export function transaction<Facts extends FactsSql, Listed extends string, Last extends string>(
  db: Database,
  decision: Decision<Facts, Listed, Last>,
): Transaction<Listed | Last, FactsOf<Facts>> {
  return new Transaction<Listed | Last, FactsOf<Facts>>(db, decision as never);
}

function decisionSql(
  { facts, from, outcomes, otherwise }: Decision<FactsSql, string, string>,
  decisionRow: DecisionRow,
): SQL {
  const names = Object.keys(facts);
  const columns = Object.fromEntries(names.map((name) => [name, named(name)]));
  const read = names.map((name) => sql`${facts[name]} as ${columns[name]}`);

  const decided = {
    outcome: outcomeSql(outcomes(columns), otherwise),
    facts: sql.raw(`json_object(${names.map((name) => `'${name}', "${name}"`).join(', ')})`),
  };
  // Without `materialized`, SQLite reads a fact again wherever it is named.
  const source = from ? sql`from ${from}` : sql.empty();
  return sql`with facts as materialized (select ${list(read)} ${source})
    ${decisionRow.insert(decided, sql`from facts`)}`;
}

const named = (name: string) => sql.raw(`"${name}"`);

/** An outcome in the text: as an argument it would travel and be read again for each statement. */
const literal = (outcome: string) => sql.raw(`'${outcome}'`);

/** SQL: the first that holds; one without a condition never occurs. */
export function outcomeSql<Outcome extends string>(
  listed: { [Each in Outcome]?: SQL | undefined },
  otherwise: Outcome,
): SQL<Outcome> {
  const all = [...Object.entries<SQL | undefined>(listed), [otherwise, sql`true`] as const];
  const cases = all
    .filter(([, condition]) => condition !== undefined)
    .map(([outcome, condition]) => sql`when ${condition} then ${literal(outcome)}`);
  return sql`case ${sql.join(cases, sql` `)} end`;
}
