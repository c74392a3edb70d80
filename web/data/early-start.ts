/** The data that `app/head-script.ts` prepares before the modules of the page run. */
export type EarlyStart = {
  /** The tokens of `/login#external_token=…` and `/activate-trial?token=…`, removed from the address bar. */
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

/** The response to a call that the head script has sent with this token; each is returned once. */
export function takeEarlyResponse(path: string, token: string): Promise<Response> | null {
  const early = window.earlyStart;
  const response = early?.token === token ? early.responses[path] : undefined;
  if (!early || !response) return null;
  delete early.responses[path];
  return response;
}

type AddressToken = 'externalToken' | 'trialToken';

export const addressToken = (kind: AddressToken): string | null => window.earlyStart?.[kind] ?? null;

/** Deletes a token of the address after its use. */
export function clearAddressToken(kind: AddressToken): void {
  if (window.earlyStart) window.earlyStart[kind] = null;
}
