import type { ChatPage } from '#contract/chat-schemas';
import type { SendFailure } from '../data/send.ts';
import { messagesPerPage } from '#contract/chat-limits';

/** What the head's script has prepared before the modules run. */
export type EarlyStart = {
  /** The tokens of `/login#external_token=…` and `/activate-trial?token=…`. */
  externalToken?: string | null;
  trialToken?: string | null;
  /** The stored token, and responses to calls with it by path. */
  token?: string;
  responses: Record<string, Promise<Response | SendFailure>>;
  /** Resolves when a shell's app may start; missing on other pages. */
  parts?: Promise<void>;
  /** The conversation in the frame, until React has taken it over. */
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

/** Stays small, since every page has it inline. */
export const newEarlyStart = (): EarlyStart => ({ responses: {} });

export const profilePath = '/api/user/me';
export const newestMessagesPath = `/api/user/chat?limit=${messagesPerPage}`;

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
