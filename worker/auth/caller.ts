import { and, eq, gt, sql, type SQL } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { sessions, users } from '#db/schema';
import type { Database } from '../db.ts';
import { build, preparedQuery } from '../prepared.ts';
import { Problem } from '../problem.ts';
import type { User } from '../usage/profile.ts';
import type { SessionClaims } from './session-token.ts';

type Statements = BatchItem<'sqlite'>[];
type Results<List extends Statements> = { [Index in keyof List]: List[Index]['_']['result'] };

const account = preparedQuery(
  build
    .select({ user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(
        eq(sessions.id, sql.placeholder('sessionId')),
        eq(sessions.userId, sql.placeholder('userId')),
        gt(sessions.expiresAt, sql.placeholder('now')),
      ),
    ),
);

/**
 * The user behind a verified token. Whether the session still lives is known only to the database: `load` asks it in
 * the same round trip as the call's own statements, which guard their writes with `userId`.
 */
export class Caller {
  readonly sessionId: string;
  /** As the token says it; in SQL use `userId`. */
  readonly claimedUserId: string;
  readonly #db: Database;
  readonly #now: number;
  readonly #whilePending: boolean;
  #loaded = false;

  constructor(claims: SessionClaims, db: Database, now: number, whilePending: boolean) {
    this.sessionId = claims.sessionId;
    this.claimedUserId = claims.userId;
    this.#db = db;
    this.#now = now;
    this.#whilePending = whilePending;
  }

  get loaded(): boolean {
    return this.#loaded;
  }

  /** SQL: the user's id while the session lives and the account may make this call, else null. */
  get userId(): SQL<string> {
    const status = this.#whilePending ? sql`` : sql`and u.status = 'approved'`;
    return sql`(select u.id from sessions s join users u on u.id = s.user_id where s.id = ${this.sessionId}
      and s.user_id = ${this.claimedUserId} and s.expires_at > ${this.#now} ${status})`;
  }

  /** The user's row and the results of the statements; 401 when the session has ended, 403 while pending. */
  async load<List extends Statements>(...statements: List): Promise<[User, ...Results<List>]> {
    const values = { sessionId: this.sessionId, userId: this.claimedUserId, now: this.#now };
    const [[found], ...results] = await this.#db.batch([account(values), ...statements]);
    if (!found) throw new Problem('unauthenticated');
    this.#loaded = true;
    if (found.user.status === 'pending' && !this.#whilePending) throw new Problem('pendingApproval');
    return [found.user, ...results] as unknown as [User, ...Results<List>];
  }
}
