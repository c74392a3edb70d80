import type { SendFailure } from '../data/fetch-in-time.ts';
import type { ShownChat } from './protocol.ts';

/** Returns the conversation in the frame; a sample at build time. */
export const shownChat = (): ShownChat | null => globalThis.earlyStart?.shownChat ?? null;

/** Drops the frame's conversation, which would outlive the session. The query cache has a copy. */
export function clearShownChat(): void {
  if (globalThis.earlyStart) globalThis.earlyStart.shownChat = null;
}

/** Returns a response once, so that no later call gets an old one. */
export function takeEarlyResponse(
  path: string,
  token: string,
): Promise<Response | SendFailure> | null {
  const early = globalThis.earlyStart;
  const response = early?.token === token ? early.responses[path] : undefined;
  if (!early || !response) return null;
  delete early.responses[path];
  return response;
}

type AddressToken = 'externalToken' | 'trialToken';

export const addressToken = (kind: AddressToken): string | null =>
  globalThis.earlyStart?.[kind] ?? null;

export function clearAddressToken(kind: AddressToken): void {
  if (globalThis.earlyStart) globalThis.earlyStart[kind] = null;
}
