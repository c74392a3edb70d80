import type { Language } from './contract/languages.ts';
import type { Database } from './lib/database.ts';
import type { Settings } from './settings.ts';

export type RequestScope = {
  request: Request;
  /** An IPv4, or the /64 of an IPv6. */
  address: string;
  language: Language;
  /** Unix ms: the start of the request. */
  now: number;
  settings: Settings;
  db: Database;
  waitUntil: (work: Promise<unknown>) => void;
};

/** As much of it as a function needs. */
export type Scope<Part extends keyof RequestScope> = Pick<RequestScope, Part>;

/** `device` from `deviceOf`, of whoever signs in. */
export type SessionScope = Scope<'db' | 'settings' | 'now'> & { device?: string | null };
