import { and, eq, gt, isNotNull, lt, type SQL } from 'drizzle-orm';
import { sessions, users } from '#db/schema';
import { bindSession } from './bindings.ts';
import type { Database } from '../lib/database.ts';
import { iif } from '../lib/expressions.ts';
import { dayMs } from '../lib/time.ts';
import type { On, Transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import type { PhoneNumber } from './phone.ts';
import { seenEveryMs } from './user-session.ts';

export const sessionLifetimeMs = 30 * dayMs;

type NewSession = {
  userId: SQL<string | null>;
  now: number;
  isLimited: boolean | SQL<number>;
  bindingMac: string | SQL<string>;
  device?: string | null | undefined;
};

type SignedIn = Omit<NewSession, 'isLimited' | 'bindingMac'> & {
  phone: PhoneNumber;
  settings: Pick<Settings, 'SESSION_KEYS'>;
};

/** Limited if the number is contested: it may have a new owner. */
export async function openSignedIn<Outcome extends string>(
  tx: Transaction<Outcome, { isContested: number }>,
  on: On<Outcome>,
  { phone, settings, ...session }: SignedIn,
): Promise<void> {
  const bound = { sessionId: tx.id, phone };
  const [full, limited] = await Promise.all([
    bindSession(settings, { ...bound, isLimited: false }),
    bindSession(settings, { ...bound, isLimited: true }),
  ]);
  const isLimited = tx.fact('isContested');
  const bindingMac = iif<string>(isLimited, limited, full);
  openSession(tx, on, { ...session, isLimited, bindingMac });
}

export function openSession<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  { userId, now, isLimited, bindingMac, device = null }: NewSession,
): void {
  const session = {
    id: tx.id,
    userId,
    createdAt: now,
    expiresAt: now + sessionLifetimeMs,
    lastSeenAt: now,
    isLimited,
    device,
    bindingMac,
  };

  tx.insert(on, sessions, session, { where: isNotNull(userId) });

  const unseen = and(eq(users.id, userId), lt(users.lastSeenAt, now - seenEveryMs));
  tx.update(on, users, { lastSeenAt: now }, unseen);
}

export async function liveSessions(
  db: Database,
  userId: string,
  now: number,
): Promise<Set<string>> {
  const rows = await db
    .select({ id: sessions.id })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(eq(sessions.userId, userId), gt(sessions.expiresAt, now), eq(users.status, 'approved')),
    );
  return new Set(rows.map(({ id }) => id));
}
