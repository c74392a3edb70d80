import type { Language } from './contract/languages.ts';
import type { Database } from './lib/database.ts';
import type { Settings } from './settings.ts';

export type RequestScope = {
  request: Request;
  address: string;
  language: Language;
  /** Unix ms: the start of the request. */
  now: number;
  settings: Settings;
  db: Database;
  waitUntil: (work: Promise<unknown>) => void;
};

export type Scope<Part extends keyof RequestScope> = Pick<RequestScope, Part>;

/** `device` from `deviceOf`, of whoever signs in. */
export type SessionScope = Scope<'db' | 'settings' | 'now'> & { device?: string | null };
