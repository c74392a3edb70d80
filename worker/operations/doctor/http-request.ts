const timeoutMs = 8000;

/** The answer of an outside service, or why there is none. */
export async function httpRequest(url: string, init: RequestInit = {}): Promise<Response | { failure: string }> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    return { failure: failureReasonOf(error) };
  }
}

/** Why nobody answered, in a word: messages could hold the address with whatever stands in it. */
export function failureReasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  const { code, name, cause } = error as Error & { code?: unknown };
  if (cause instanceof Error) return failureReasonOf(cause);
  return typeof code === 'string' ? code : name;
}
