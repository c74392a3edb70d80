import type { Settings } from '../../settings.ts';
import { minuteMs } from '../../lib/time.ts';

const timeoutMs = minuteMs;

/** The JSON of a call to the running Worker; throws with the Worker's message if it refuses. */
export async function callApi<T>({ SITE_URL }: Settings, path: string, init: RequestInit): Promise<T> {
  const response = await fetch(`${SITE_URL}${path}`, { ...init, signal: AbortSignal.timeout(timeoutMs) }).catch(() => {
    throw new Error(`${SITE_URL} does not respond. Check that the Worker runs.`);
  });
  const body = (await response.json().catch(() => ({}))) as T & { message?: string };
  if (response.ok) return body;
  throw new Error(`${SITE_URL} answered ${response.status}. ${body.message ?? ''}`.trim());
}
