const timeoutMs = 8000;

/** The answer of an outside service, or why there is none. */
export async function ask(url: string, init: RequestInit = {}): Promise<Response | { silent: string }> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    return { silent: silenceOf(error) };
  }
}

/** Why nobody answered, in a word: messages could hold the address with whatever stands in it. */
export function silenceOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  const { code, name, cause } = error as Error & { code?: unknown };
  if (cause instanceof Error) return silenceOf(cause);
  return typeof code === 'string' ? code : name;
}
