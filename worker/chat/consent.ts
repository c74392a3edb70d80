import type { Consent } from '../contract/chat.ts';

type ConsentRow = { chatConsentVersion: string | null; chatConsentAt: number | null };

/** The consent in a user's row. */
export function consentOf({ chatConsentVersion: version, chatConsentAt: at }: ConsentRow): Consent | null {
  return version === null || at === null ? null : { version, at: new Date(at).toISOString() };
}
