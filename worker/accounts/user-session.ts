import { sql, type SQL } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { sessions, users, type User } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { preparedSql, readRow } from '../lib/sql.ts';
import { RequestError } from '../lib/request-error.ts';
import { recordSeen, seenEveryMs } from './record-seen.ts';

/** The session of a verified token. */
export type SessionClaims = { userId: string; sessionId: string };

type SessionContext = { db: Database; now: number; waitUntil: (work: Promise<unknown>) => void };
type Statements = BatchItem<'sqlite'>[];
type Results<List extends Statements> = { [Index in keyof List]: List[Index]['_']['result'] };

/** A result that was computed after the session check: only `UserSession.run` creates one. */
class Authorized<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }
}
export type { Authorized };

type Row = Record<string, unknown> & { sessionExpiresAt: number; sessionSeenAt: number };

const selectUser = preparedSql(sql`select ${users}.*, ${sessions.expiresAt} as sessionExpiresAt,
    ${sessions.lastSeenAt} as sessionSeenAt
  from ${sessions} join ${users} on ${users.id} = ${sessions.userId}
  where ${sessions.id} = ${sql.placeholder('sessionId')} and ${sessions.userId} = ${sql.placeholder('userId')}
    and ${sessions.expiresAt} > ${sql.placeholder('now')}`);

/**
 * The session of a user's call. Its token is verified, but only the database shows whether the session has ended. `run`
 * checks that in the round trip of the call's own statements, so these guard their writes with `userId`.
 */
export class UserSession {
  readonly sessionId: string;
  /** From the token, so possibly of an ended session; in SQL use `userId`. */
  readonly claimedUserId: string;
  readonly #db: Database;
  readonly #now: number;
  readonly #waitUntil: (work: Promise<unknown>) => void;
  readonly #whilePending: boolean;
  /** Unix ms; known once `run` has found the session. */
  expiresAt = 0;

  constructor(claims: SessionClaims, context: SessionContext, whilePending: boolean) {
    this.sessionId = claims.sessionId;
    this.claimedUserId = claims.userId;
    this.#db = context.db;
    this.#now = context.now;
    this.#waitUntil = context.waitUntil;
    this.#whilePending = whilePending;
  }

  /** SQL: the user's id if the session is live and the account may make this call, else null. */
  get userId(): SQL<string> {
    const status = this.#whilePending ? sql`` : sql`and ${users.status} = 'approved'`;
    return sql`(select ${users.id} from ${sessions} join ${users} on ${users.id} = ${sessions.userId}
      where ${sessions.id} = ${this.sessionId} and ${sessions.userId} = ${this.claimedUserId}
        and ${sessions.expiresAt} > ${this.#now} ${status})`;
  }

  /**
   * Runs the statements as one transaction with the session check, then `respond` with the user's row from
   * before them, and their results. Throws 401 when the session has ended, 403 while the account is pending.
   */
  async run<List extends Statements, T>(
    statements: [...List],
    respond: (user: User, ...results: Results<List>) => T | Promise<T>,
  ): Promise<Authorized<T>> {
    const values = { sessionId: this.sessionId, userId: this.claimedUserId, now: this.#now };
    const select = this.#db.all<Row>(selectUser(values));
    const [[row], ...results] = await this.#db.batch([select, ...statements]);
    if (!row) throw new RequestError('unauthenticated');
    const user = readRow(users, row);
    if (user.status === 'pending' && !this.#whilePending) throw new RequestError('pendingApproval');
    this.expiresAt = row.sessionExpiresAt;
    if (row.sessionSeenAt <= this.#now - seenEveryMs) this.#waitUntil(recordSeen(this.#db, this, this.#now));
    return new Authorized(await respond(user, ...(results as Results<List>)));
  }
}
