import type { ChatPage } from '#contract/chat-schemas';
import type { SendFailure } from './send.ts';
import { messagesPerPage } from '#contract/chat-limits';

/** Prepared before the modules run. */
export type EarlyStart = {
  /** Of `/login#external_token=…` and `/activate-trial?token=…`. */
  externalToken?: string | null;
  trialToken?: string | null;
  /** Responses by path, with the stored token. */
  token?: string;
  responses: Record<string, Promise<Response | SendFailure>>;
  /** When a shell's app may start; missing on other pages. */
  parts?: Promise<void>;
  /** Until React has taken the frame over. */
  shownChat?: ShownChat | null;
};

export type ShownChat = {
  token: string;
  page: ChatPage;
  openedAt: number;
};

declare global {
  var earlyStart: EarlyStart | undefined;
}

/** Every page has it inline. */
export const newEarlyStart = (): EarlyStart => ({ responses: {} });

export const profilePath = '/api/user/me';
export const newestMessagesPath = `/api/user/chat?limit=${messagesPerPage}`;

/** A sample at build time. */
export const shownChat = (): ShownChat | null => globalThis.earlyStart?.shownChat ?? null;

/** The query cache has its own, which ends with the session. */
export function clearShownChat(): void {
  if (globalThis.earlyStart) globalThis.earlyStart.shownChat = null;
}

/** Each is returned once. */
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
