import { and, eq, ne, not, or, type SQL } from 'drizzle-orm';
import { union, type SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { aliases, sessions, trialLinks, type usedTokens, type User } from '#db/schema';
import type { PhoneNumber } from '../identity/phone.ts';
import type { Database } from '../lib/database.ts';
import { fixed, isSame, rowExists } from '../lib/expressions.ts';
import { isIn } from '../lib/sql.ts';

type MovedBy = { by: 'code'; keeps: string | null } | { by: 'support' };

export type Move = MovedBy & {
  phone: PhoneNumber;
  whatsappId: string;
  /** What must still hold when the move is written. */
  isAllowed: SQL;
  marker?: typeof usedTokens.$inferInsert;
};

export const keptSession = (move: MovedBy) => (move.by === 'code' ? move.keeps : null);

export type BoundRow = {
  kind: 'alias' | 'trialLink';
  value: string;
  bindingMac: string | null;
};

export type MovingAccount = { user: User; bound: BoundRow[] };

const isBusinessOfSql = (userId: string) =>
  and(eq(aliases.userId, userId), eq(aliases.kind, 'business'));

export function boundRowsOf(db: Database, userId: string) {
  return union(
    db
      .select({
        kind: fixed<BoundRow['kind']>('alias'),
        value: aliases.value,
        bindingMac: aliases.bindingMac,
      })
      .from(aliases)
      .where(isBusinessOfSql(userId)),
    db
      .select({
        kind: fixed<BoundRow['kind']>('trialLink'),
        value: trialLinks.mac,
        bindingMac: trialLinks.bindingMac,
      })
      .from(trialLinks)
      .where(eq(trialLinks.userId, userId)),
  );
}

/** SQL: an id or a trial link is another than was read. */
export function hasMoreRowsSql({ user, bound }: MovingAccount): SQL {
  const known = bound.find(({ kind }) => kind === 'alias');
  const isKnown = and(
    isSame(aliases.value, known?.value ?? null),
    isSame(aliases.bindingMac, known?.bindingMac ?? null),
  )!;
  const links = bound.filter(({ kind }) => kind === 'trialLink').map(({ value }) => value);
  const ofUser = eq(trialLinks.userId, user.id);
  return or(
    rowExists(aliases, and(isBusinessOfSql(user.id), not(isKnown))),
    rowExists(trialLinks, and(ofUser, not(isIn(trialLinks.mac, links)))),
  )!;
}

/** The sessions that a move ends. */
export function endedBySql(userId: string, move: Move): SQL {
  return and(eq(sessions.userId, userId), isOtherSessionSql(sessions.id, move))!;
}

export function isOtherSessionSql(sessionId: SQLiteColumn, move: Move): SQL | undefined {
  const kept = keptSession(move);
  return kept === null ? undefined : ne(sessionId, kept);
}
