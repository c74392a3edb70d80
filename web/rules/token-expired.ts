/** Whether a three-part token says that it has ended; what cannot be read counts as valid. `now` in milliseconds. */
export function tokenExpired(token: string, now: number): boolean {
  if (token.includes('test-token') || token.startsWith('e2e-')) return false;
  const expiry = expiryOf(token);
  return expiry !== null && expiry * 1000 <= now;
}

/** When a token says that it ends, in Unix seconds; null when it does not say so readably. */
export function expiryOf(token: string): number | null {
  const parts = token.split('.');
  if (parts.length !== 3) return null;
  try {
    const base64 = parts[1]!.replaceAll('-', '+').replaceAll('_', '/');
    const { exp } = JSON.parse(atob(base64)) as { exp?: unknown };
    return typeof exp === 'number' ? exp : null;
  } catch {
    return null;
  }
}
