import {
  and,
  eq,
  gt,
  isNotNull,
  lte,
  not,
  notInArray,
  sql,
  type Placeholder,
  type SQL,
} from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { sessions, type User, users } from '#db/schema';
import { isOwnSession } from '../lib/bindings.ts';
import type { Database } from '../lib/database.ts';
import { iif, oneRow, rowExists } from '../lib/expressions.ts';
import { RequestError } from '../lib/request-error.ts';
import { build, madeOnce } from '../lib/sql.ts';
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
import type { Scope } from '../request-scope.ts';
import type { Settings } from '../settings.ts';
import { isAccountContested } from './identity.ts';

export type SessionClaims = {
  userId: string;
  sessionId: string;
  /** From `limitedSessionMacs`, of a call that needs a sign-in. */
  limitedMacs?: string[];
};

type SessionContext = Scope<'db' | 'now' | 'waitUntil'> & {
  settings: Pick<Settings, 'SESSION_KEYS'>;
};

type Statements = BatchItem<'sqlite'>[];

type ResultsOf<List extends Statements> = { [Index in keyof List]: List[Index]['_']['result'] };

/**
 * A result that was computed after the session
 * check: only `UserSession.run` creates one.
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
type Admission = { whilePending?: true | undefined; needsSignIn?: true | undefined };

/**
 * A user's session. Only `run` checks in the database
 * that it has not ended; writes guard with `userId`.
 */
export class UserSession {
  readonly sessionId: string;
  /** From the token, so possibly of an ended session; in SQL use `userId`. */
  readonly claimedUserId: string;
  readonly #db: Database;
  readonly #settings: Pick<Settings, 'SESSION_KEYS'>;
  readonly #now: number;
  readonly #waitUntil: (work: Promise<unknown>) => void;
  readonly #admission: Admission;
  readonly #limitedMacs: string[];
  /** Unix ms; known once `run` has found the session. */
  expiresAt = 0;
  #limitedBy: 'nothing' | 'trialLink' | 'newOwner' = 'trialLink';

  constructor(claims: SessionClaims, context: SessionContext, admission: Admission) {
    this.sessionId = claims.sessionId;
    this.claimedUserId = claims.userId;
    this.#db = context.db;
    this.#settings = context.settings;
    this.#now = context.now;
    this.#waitUntil = context.waitUntil;
    this.#admission = admission;
    this.#limitedMacs = claims.limitedMacs ?? [];
  }

  /**
   * SQL: the user's id if the session is live and
   * the account may make this call, else null.
   */
  get userId(): SQL<string> {
    const { whilePending, needsSignIn } = this.#admission;
    const admitted = and(
      this.#isLive,
      whilePending ? undefined : eq(users.status, 'approved'),
      needsSignIn ? this.#hasSignedIn : undefined,
    );
    return sql`(select ${users.id} from ${sessions}
      join ${users} on ${eq(users.id, sessions.userId)} where ${admitted})`;
  }

  /**
   * What a limited session is refused by, null for a
   * full one; known once `run` has found the session.
   */
  get refusal(): RequestError | null {
    if (this.#limitedBy === 'nothing') return null;
    return new RequestError('signInNeeded', this.mayHaveNewOwner ? newOwner : {});
  }

  /** The number may have a new owner; known as `refusal` is. */
  get mayHaveNewOwner(): boolean {
    return this.#limitedBy === 'newOwner';
  }

  /** Also without a row whose `is_limited` somebody has changed. */
  get #hasSignedIn(): SQL | undefined {
    return and(eq(sessions.isLimited, false), notInArray(sessions.mac, this.#limitedMacs));
  }

  get #isLive(): SQL | undefined {
    return isLive({
      sessionId: this.sessionId,
      userId: this.claimedUserId,
      now: this.#now,
    });
  }

  /**
   * Runs the statements with the session check, then `respond`
   * with the user's row from before. Throws 401 or 403.
   */
  async run<List extends Statements, T>(
    statements: [...List],
    respond: (user: User, ...results: ResultsOf<List>) => T | Promise<T>,
  ): Promise<Authorized<T>> {
    const { sessionId, claimedUserId } = this;
    const check = liveSession({
      sessionId,
      userId: claimedUserId,
      now: this.#now,
    });
    const [[found], ...results] = await this.#db.batch([check, ...statements]);

    if (!found) throw new RequestError('unauthenticated');
    const { user, session, isContested } = found;
    const { isLimited, mac } = session;
    const bound = {
      sessionId: this.sessionId,
      phone: user.phone,
      isLimited,
      mac,
    };
    if (!(await isOwnSession(this.#settings, bound))) throw new RequestError('unavailable');

    if (user.status === 'pending' && !this.#admission.whilePending)
      throw new RequestError('pendingApproval');
    if (!session.isLimited) this.#limitedBy = 'nothing';
    else if (isContested) this.#limitedBy = 'newOwner';
    if (this.refusal && this.#admission.needsSignIn) throw this.refusal;

    this.expiresAt = session.expiresAt;
    if (session.lastSeenAt <= this.#now - seenEveryMs)
      this.#waitUntil(recordSeen(this.#db, this, this.#now));
    return new Authorized(await respond(user, ...(results as ResultsOf<List>)));
  }

  /**
   * Decides over the user's row, and writes the effects, in the transaction of
   * the session check; `respond` has the row from before. Throws 401 or 403.
   */
  decide<
    Facts extends FactsSql,
    Listed extends string,
    Last extends string,
    T,
    Named extends Reads = Reads,
  >(
    { facts, outcomes, otherwise }: Decision<Facts, Listed, Last>,
    effects: (tx: Transaction<Listed | Last, FactsOf<Facts>>) => void,
    respond: (decided: Made<Listed | Last, FactsOf<Facts>, Named>) => T | Promise<T>,
    reads: Named = {} as Named,
  ): Promise<Authorized<T>> {
    const tx = transaction(this.#db, {
      from: oneRow([users, eq(users.id, this.userId)]),
      facts: { ...facts, isAdmitted: isNotNull(users.id) },
      outcomes: (read) => ({ refused: not(read.isAdmitted), ...outcomes(read as never) }),
      otherwise,
    });
    effects(tx as never);
    const { statements, read } = tx.close(reads);
    return this.run(statements, (user, ...results) => {
      const { outcome, facts: found, reads: more } = read(results);
      return respond({
        user,
        outcome: outcome as Listed | Last,
        facts: found,
        reads: more,
      });
    });
  }
}

/** A number that may have a new owner opens limited sessions alone. */
const isOfContested = iif<number>(sessions.isLimited, isAccountContested(users.id), 0);

type Value<T> = T | Placeholder;
type Named = {
  sessionId: Value<string>;
  userId: Value<string>;
  now: Value<number>;
};

function isLive({ sessionId, userId, now }: Named): SQL | undefined {
  const { id, expiresAt } = sessions;
  return and(eq(id, sessionId), eq(sessions.userId, userId), gt(expiresAt, now));
}

/** The live session with its user, from before whatever else the transaction does. */
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
      isLive({
        sessionId: sql.placeholder('sessionId'),
        userId: sql.placeholder('userId'),
        now: sql.placeholder('now'),
      }),
    ),
);

const newOwner = {
  message: 'This number may have a new owner. Please write to our support to see this.',
  fields: { newOwner: true },
};

type Made<Outcome, Facts, Named extends Reads> = {
  user: User;
  outcome: Outcome;
  facts: Facts;
  reads: Results<Named>;
};

/** The precision (ms) of `lastSeenAt`: a session writes it at most this often. */
export const seenEveryMs = hourMs;

type Session = { sessionId: string; claimedUserId: string };

async function recordSeen(
  db: Database,
  { sessionId, claimedUserId }: Session,
  now: number,
): Promise<void> {
  const due = and(
    eq(sessions.id, sessionId),
    eq(sessions.userId, claimedUserId),
    lte(sessions.lastSeenAt, now - seenEveryMs),
  );
  await db.batch([
    db
      .update(users)
      .set({ lastSeenAt: now })
      .where(and(eq(users.id, claimedUserId), rowExists(sessions, due))),
    db.update(sessions).set({ lastSeenAt: now }).where(due),
  ]);
}
