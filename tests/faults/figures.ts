/** Calls by kind, and failures by code. */
export class CallFigures {
  readonly calls = new Map<string, number>();
  readonly failures = new Map<string, number>();

  /** One call and its result; `failure` is null for a 2xx. */
  answered(kind: string, failure: string | null): void {
    add(this.calls, kind);
    if (failure !== null) add(this.failures, failure);
  }
}

/** Counts for the report alone; the facts that invariants check are in `person.ts`. */
export class Figures extends CallFigures {
  readonly attackers = new CallFigures();
  readonly faults = new Map<string, number>();
  /** The longest recovery (ms) by its cause. */
  readonly recoveries = new Map<string, number>();
  restarts = 0;
  /** The outages of the bot: the events that waited at their end, and the time (ms) until the bot had received them. */
  readonly outages: { manner: string; waiting: number; receivedMs: number | null }[] = [];
  /** The times (ms) from a refused sign-in and a message to the assistant until the user was signed in. */
  readonly refusals: { phone: string; ms: number }[] = [];

  injected(fault: string): void {
    add(this.faults, fault);
  }

  recovered(from: string, ms: number): void {
    this.recoveries.set(from, Math.max(ms, this.recoveries.get(from) ?? 0));
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

export const total = (counts: Map<string, number>): number => [...counts.values()].reduce((sum, each) => sum + each, 0);
