/** What `app/head-script.ts` has prepared before the modules of the page run. */
export type EarlyStart = {
  /** The tokens of `/login#external_token=…` and `/activate-trial?token=…`, which have left the address bar. */
  externalToken: string | null;
  trialToken: string | null;
  /** The stored token, and the responses to the calls that were sent with it, by path. */
  token: string | null;
  responses: Record<string, Promise<Response>>;
};

declare global {
  interface Window {
    earlyStart?: EarlyStart;
  }
}

/** The response to a call that the head script has sent with this token; each is given out once. */
export function takeEarlyResponse(path: string, token: string): Promise<Response> | null {
  const early = window.earlyStart;
  const response = early?.token === token ? early.responses[path] : undefined;
  if (!early || !response) return null;
  delete early.responses[path];
  return response;
}

type AddressToken = 'externalToken' | 'trialToken';

export const addressToken = (kind: AddressToken): string | null => window.earlyStart?.[kind] ?? null;

/** Forgets a token of the address once it has been used. */
export function clearAddressToken(kind: AddressToken): void {
  if (window.earlyStart) window.earlyStart[kind] = null;
}
