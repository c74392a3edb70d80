import { decodeProtectedHeader } from 'jose';
import { RequestError } from '../lib/request-error.ts';
import type { SessionClaims } from '../accounts/user-session.ts';
import { verifyToken } from './session-token.ts';

/** The bearer token of a request; empty when there is none. */
export function bearerToken(request: Request): string {
  return /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
}

/** The session behind `?token=`, a session token or a ticket; null without one, 401 invalid_token for a bad ticket. */
export async function sessionFromQuery(ring: string, request: Request): Promise<SessionClaims | null> {
  const token = new URL(request.url).searchParams.get('token') ?? '';
  const claims = await verifyToken(ring, ['session+jwt', 'stream+jwt'], token);
  if (!claims && isTicket(token)) throw new RequestError('invalidToken');
  return claims;
}

function isTicket(token: string): boolean {
  try {
    return decodeProtectedHeader(token).typ === 'stream+jwt';
  } catch {
    return false;
  }
}
