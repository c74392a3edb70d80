import type { PhoneNumber } from '#db/schema';
import { keyedHash } from './crypto.ts';

/** No number, token, code, query or body. */
export function log(level: 'info' | 'error', event: string, fields: Record<string, unknown>): void {
  const line = JSON.stringify({ level, event, ...fields });
  // oxlint-disable-next-line no-console
  if (level === 'error') console.error(line);
  // oxlint-disable-next-line no-console
  else console.log(line);
}

/** Messages of database errors carry the parameters. */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const { cause } = error;
  return {
    error: error.name,
    code: codeOf(error) ?? codeOf(cause),
    at: error.stack
      ?.split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 6)
      .map((line) => line.trim()),
  };
}

/** The platform would log a failure with its message. */
export function inBackground(work: Promise<unknown>, requestId: string | null): Promise<unknown> {
  return work.catch((error: unknown) =>
    log('error', 'background_failed', { requestId, ...describeError(error) }),
  );
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** 8 hex digits of a keyed hash, the same for the same number. */
export async function phoneTag(pepper: string, phone: PhoneNumber): Promise<string> {
  return (await keyedHash(pepper, 'log', phone)).slice(0, 8);
}
