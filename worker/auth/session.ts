import { sql, type SQL } from 'drizzle-orm';
import type { Value } from '../prepared.ts';
import type { Settings } from '../settings.ts';
import { sessionLifetimeMs, signToken, type SessionClaims } from './session-token.ts';

/** SQL: opens the session for the user that the condition finds in `users u`. */
export function openSession(sessionId: Value<string>, now: Value<number>, from: SQL): SQL {
  return sql`insert into sessions (id, user_id, created_at, expires_at)
    select ${sessionId}, u.id, ${now}, ${now} + ${sql.raw(String(sessionLifetimeMs))} ${from}`;
}

/** The token of an opened session. */
export function sessionToken(settings: Settings, claims: SessionClaims, now: number): Promise<string> {
  return signToken(settings.SESSION_KEYS, 'session+jwt', claims, Math.floor((now + sessionLifetimeMs) / 1000));
}
