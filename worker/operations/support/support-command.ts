import type { Settings } from '../../settings.ts';
import type { Database } from '../../lib/database.ts';

export type Flags = { tier?: string; days?: string };
/** A command's arguments, and the opened environment. */
export type SupportRequest = { words: string[]; flags: Flags; db: Database; settings: Settings };

/** `data` is printed with `--json`, `text` without. `complete` is false if a part failed: exit code 1. */
export type Result = { data: unknown; text: string; complete?: boolean };

/** A change: its description, whether it needs `--yes` (`confirmed`), and the function that applies it. */
export type Change = {
  /** Follows "This would ". */
  would: string;
  /** The subject of the audit line: a number's tag, or ids of events; never the number. */
  about: string;
  needsYes: boolean;
  perform: () => Promise<Result>;
};

export type SupportCommand = {
  usage: string;
  about: string;
  run: (request: SupportRequest) => Promise<Result | Change>;
};
