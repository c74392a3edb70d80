import { and, eq, gt, isNotNull, lte, not, or, type SQL } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { sessions, type User, users } from '#db/schema';
import { isOwnSession } from './bindings.ts';
import type { Database } from '../lib/database.ts';
import { iif, oneRow, rowExists } from '../lib/expressions.ts';
import { RequestError } from '../lib/request-error.ts';
import { build, madeOnce, type Value } from '../lib/sql.ts';
import { hourMs } from '../lib/time.ts';
import {
  type Decision,
  type FactsOf,
  type FactsSql,
  type Reads,
  type Results,
  transaction,
  type Transaction,
} from '../lib/transaction.ts';
import { sql } from '../lib/sql-text.ts';
import type { Scope } from '../request-scope.ts';
import type { Settings } from '../settings.ts';
import { isAccountContestedSql } from './contest.ts';

/** The session that a token names. */
export type SessionRef = {
  userId: string;
  sessionId: string;
};

type AdmissionScope = Scope<'db' | 'now' | 'waitUntil'> & {
  settings: Pick<Settings, 'SESSION_KEYS'>;
};

type Statements = BatchItem<'sqlite'>[];

type ResultsOf<List extends Statements> = { [Index in keyof List]: List[Index]['_']['result'] };

/**
 * A result that was computed after the session
 * check: only `UserSession.run` creates one; `map` keeps the proof.
 */
class Authorized<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  map<Other>(change: (value: T) => Other): Authorized<Other> {
    return new Authorized(change(this.#value));
  }
}

export type { Authorized };

/**
 * Which sessions may make a call: those of pending
 * accounts, those that a trial link has opened.
 */
type Admission = {
  whilePending?: true | undefined;
  needsSignIn?: true | undefined;
  /** From `limitedSessionMacs`, if it needs a sign-in. */
  limitedMacs?: string[];
};

/** What the session check has found; `user` is the row from before. */
export type Admitted = {
  user: User;
  /** Unix ms: when the session ends. */
  expiresAt: number;
  limitedBy: SessionLimit | null;
};

/** Of a session that is not full: what limits it. */
export type SessionLimit = 'trialLink' | 'newOwner';

type Decided<Outcome, Facts, R extends Reads> = Admitted & {
  outcome: Outcome;
  facts: Facts;
  reads: Results<R>;
};

type UserDecision<
  Facts extends FactsSql,
  Listed extends string,
  Last extends string,
  R extends Reads,
  T,
> = Decision<Facts, Listed, Last> & {
  effects: (tx: Transaction<Listed | Last, FactsOf<Facts>>) => void;
  reads?: R;
  respond: (decided: Decided<Listed | Last, FactsOf<Facts>, R>) => T | Promise<T>;
};

/**
 * A user's session. Only `run` checks in the database that
 * it has not ended; writes guard with `admittedUserSql`.
 */
export class UserSession {
  readonly sessionId: string;
  /** Possibly of an ended session; in SQL use `admittedUserSql`. */
  readonly tokenUserId: string;
  readonly #db: Database;
  readonly #settings: Pick<Settings, 'SESSION_KEYS'>;
  readonly #now: number;
  readonly #waitUntil: (work: Promise<unknown>) => void;
  readonly #admission: Admission;
  readonly #limitedMacs: string[];

  constructor(ref: SessionRef, scope: AdmissionScope, admission: Admission) {
    this.sessionId = ref.sessionId;
    this.tokenUserId = ref.userId;
    this.#db = scope.db;
    this.#settings = scope.settings;
    this.#now = scope.now;
    this.#waitUntil = scope.waitUntil;
    this.#admission = admission;
    this.#limitedMacs = admission.limitedMacs ?? [];
  }

  admittedUserSql(): SQL<string> {
    return admittedUserSql(this.caller);
  }

  /** The values of `admittedUserSql`. */
  get caller(): SessionCaller {
    const { whilePending, needsSignIn } = this.#admission;
    return {
      sessionId: this.sessionId,
      userId: this.tokenUserId,
      now: this.#now,
      whilePending: Number(whilePending ?? false),
      needsSignIn: Number(needsSignIn ?? false),
      limitedMacs: JSON.stringify(this.#limitedMacs),
    };
  }

  /** Throws 401, 403 or, for a row that is not bound by our key, 503. */
  async run<List extends Statements, T>(
    statements: [...List],
    respond: (admitted: Admitted, ...results: ResultsOf<List>) => T | Promise<T>,
  ): Promise<Authorized<T>> {
    const { sessionId, tokenUserId } = this;
    const check = liveSession({
      sessionId,
      userId: tokenUserId,
      now: this.#now,
    });
    const [[found], ...results] = await this.#db.batch([check, ...statements]);

    const admitted = await this.#admit(found);
    return new Authorized(await respond(admitted, ...(results as ResultsOf<List>)));
  }

  async #admit(found: FoundSession | undefined): Promise<Admitted> {
    if (!found) throw new RequestError('unauthenticated');
    const { user, session } = found;
    const { isLimited, bindingMac, expiresAt, lastSeenAt } = session;
    const bound = {
      sessionId: this.sessionId,
      phone: user.phone,
      isLimited,
      bindingMac,
    };
    if (!(await isOwnSession(this.#settings, bound))) throw new RequestError('unavailable');

    if (user.status === 'pending' && !this.#admission.whilePending)
      throw new RequestError('pendingApproval');
    const limitedBy = limitOf(found);
    if (limitedBy && this.#admission.needsSignIn) throw refusalOf(limitedBy);

    if (lastSeenAt <= this.#now - seenEveryMs)
      this.#waitUntil(recordSeen(this.#db, this, this.#now));
    return { user, expiresAt, limitedBy };
  }

  /**
   * Decides over the user's row, and writes the effects, in
   * the transaction of the session check. Throws 401, 403 or, for
   * a row that is not bound by our key, 503.
   */
  decide<
    Facts extends FactsSql,
    Listed extends string,
    Last extends string,
    T,
    R extends Reads = Reads,
  >({
    facts,
    outcomes,
    otherwise,
    effects,
    reads = {} as R,
    respond,
  }: UserDecision<Facts, Listed, Last, R, T>): Promise<Authorized<T>> {
    const tx = transaction(this.#db, {
      from: oneRow([users, eq(users.id, this.admittedUserSql())]),
      facts: { ...facts, isAdmitted: isNotNull(users.id) },
      outcomes: (read) => ({ refused: not(read.isAdmitted), ...outcomes(read) }),
      otherwise,
    });
    // An effect cannot name `refused`: nothing is written then.
    effects(tx as never);
    const { statements, read } = tx.close(reads);
    return this.run(statements, (admitted, ...results) => {
      const decided = read(results);
      return respond({
        ...admitted,
        outcome: decided.outcome as Listed | Last,
        facts: decided.facts,
        reads: decided.reads,
      });
    });
  }
}

export const refusalOf = (limitedBy: SessionLimit): RequestError =>
  new RequestError('signInNeeded', limitedBy === 'newOwner' ? newOwner : {});

/** A number that may have a new owner opens limited sessions alone. */
const isOfContested = iif<number>(sessions.isLimited, isAccountContestedSql, 0);

/** 1 or 0 each, and a JSON list. */
export type SessionCaller = {
  sessionId: string;
  userId: string;
  now: number;
  whilePending: number;
  needsSignIn: number;
  limitedMacs: string;
};

type Named<Values> = { [Name in keyof Values]: Value<Values[Name]> };

/**
 * SQL: the user's id if the session is live and
 * the account may make this call, else null.
 */
export function admittedUserSql(caller: Named<SessionCaller>): SQL<string> {
  const { whilePending, needsSignIn, limitedMacs } = caller;
  // Also without a row whose `is_limited` somebody has changed.
  const hasSignedIn = and(
    eq(sessions.isLimited, false),
    sql`${sessions.bindingMac} not in (select value from json_each(${limitedMacs}))`,
  );
  const admitted = and(
    isLiveSql(caller),
    or(sql`${whilePending}`, eq(users.status, 'approved')),
    or(not(sql`${needsSignIn}`), hasSignedIn),
  );
  return sql`(select ${users.id} from ${sessions}
    join ${users} on ${eq(users.id, sessions.userId)} where ${admitted})`;
}

type NamedSession = Named<Pick<SessionCaller, 'sessionId' | 'userId' | 'now'>>;

function isLiveSql({ sessionId, userId, now }: NamedSession): SQL | undefined {
  const { id, expiresAt } = sessions;
  return and(eq(id, sessionId), eq(sessions.userId, userId), gt(expiresAt, now));
}

/** From before whatever else the transaction does. */
const liveSession = madeOnce(
  build
    .select({
      user: users,
      session: sessions,
      isContested: isOfContested,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      isLiveSql({
        sessionId: sql.placeholder('sessionId'),
        userId: sql.placeholder('userId'),
        now: sql.placeholder('now'),
      }),
    ),
);

type FoundSession = Awaited<ReturnType<typeof liveSession>>[number];

function limitOf({ session, isContested }: FoundSession): SessionLimit | null {
  if (!session.isLimited) return null;
  return isContested ? 'newOwner' : 'trialLink';
}

const newOwner = {
  message: 'This number may have a new owner. Please write to our support to see this.',
  fields: { newOwner: true },
};

/** In ms: a session writes `lastSeenAt` at most this often. */
export const seenEveryMs = hourMs;

type Session = { sessionId: string; tokenUserId: string };

async function recordSeen(
  db: Database,
  { sessionId, tokenUserId }: Session,
  now: number,
): Promise<void> {
  const due = and(
    eq(sessions.id, sessionId),
    eq(sessions.userId, tokenUserId),
    lte(sessions.lastSeenAt, now - seenEveryMs),
  );
  await db.batch([
    db
      .update(users)
      .set({ lastSeenAt: now })
      .where(and(eq(users.id, tokenUserId), rowExists(sessions, due))),
    db.update(sessions).set({ lastSeenAt: now }).where(due),
  ]);
}
