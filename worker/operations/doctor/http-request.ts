const timeoutMs = 8000;

/** The response of an external service, or the reason why there is none. */
export async function httpRequest(url: string, init: RequestInit = {}): Promise<Response | { failure: string }> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    return { failure: failureReasonOf(error) };
  }
}

/** The name of the error. Its message is not used, since it may contain the address with a secret. */
export function failureReasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  const { code, name, cause } = error as Error & { code?: unknown };
  if (cause instanceof Error) return failureReasonOf(cause);
  return typeof code === 'string' ? code : name;
}
