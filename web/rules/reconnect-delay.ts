const maxAttempts = 5;
const base = 3000;
const cap = 30_000;

/** Milliseconds before the given attempt (1 is the first); null after the last attempt. */
export function reconnectDelay(attempt: number): number | null {
  return attempt > maxAttempts ? null : Math.min(base * 2 ** (attempt - 1), cap);
}
