import type { ChatPage } from '#contract/chat-schemas';
import type { SendFailure } from './send.ts';
import { messagesPerPage } from '#contract/chat-limits';

/** The data that the inline scripts prepare before the modules of the page run. */
export type EarlyStart = {
  /** The tokens of `/login#external_token=…` and `/activate-trial?token=…`, removed from the address bar. */
  externalToken: string | null;
  trialToken: string | null;
  /** The stored token, and the responses to the calls that were sent with it, by path. */
  token: string | null;
  responses: Record<string, Promise<Response | SendFailure>>;
  /** Resolves when a shell has all parts of the app, which then starts; null on other pages. */
  parts: Promise<void> | null;
  /** The conversation in the prerendered frame of the chat, until React has taken it over. */
  shownChat: ShownChat | null;
};

export type ShownChat = {
  token: string;
  page: ChatPage;
  openedAt: number;
};

declare global {
  var earlyStart: EarlyStart | undefined;
}

export const newEarlyStart = (): EarlyStart => ({
  externalToken: null,
  trialToken: null,
  token: null,
  responses: {},
  parts: null,
  shownChat: null,
});

export const profilePath = '/api/user/me';
export const newestMessagesPath = `/api/user/chat?limit=${messagesPerPage}`;

/** At build time it is a sample, from which the frame of the chat is rendered. */
export const shownChat = (): ShownChat | null => globalThis.earlyStart?.shownChat ?? null;

/** Deletes the conversation from memory; the query cache has its own, which ends with the session. */
export function clearShownChat(): void {
  if (globalThis.earlyStart) globalThis.earlyStart.shownChat = null;
}

/** The response to a call that the head script has sent with this token; each is returned once. */
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
