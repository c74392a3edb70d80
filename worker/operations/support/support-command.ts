import type { Settings } from '../../settings.ts';
import type { Database } from '../../platform/database.ts';

export type Flags = { tier?: string; days?: string };
/** What a command was asked: the words after its name, and the opened environment. */
export type SupportRequest = { words: string[]; flags: Flags; db: Database; settings: Settings };

/** `data` is printed with `--json`, `text` without. `complete` is false when the command could not do all: exit code 1. */
export type Result = { data: unknown; text: string; complete?: boolean };

/** A change: what it would do, to be confirmed by `--yes` where `confirmed` asks for it, and how to do it. */
export type Change = {
  /** Follows "This would ". */
  would: string;
  /** What the audit line names: the tag of a number, or ids of events. Never the number. */
  about: string;
  needsYes: boolean;
  perform: () => Promise<Result>;
};

export type SupportCommand = {
  usage: string;
  about: string;
  run: (request: SupportRequest) => Promise<Result | Change>;
};
