import { decodeJwt } from 'jose';

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

export function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

export const total = (counts: Map<string, number>): number => [...counts.values()].reduce((sum, each) => sum + each, 0);

type Sample = { ms: number; attacked: boolean };

/** Response times below this depend on the machine more than on the product. */
const shortestMs = 4;
const fewest = 30;

/** Response times of users' calls while every service works, with and without an attack. */
export class Latencies {
  readonly #now: () => number;
  /** The instant since which all services and the Worker run; null while one does not. */
  #calmSince: number | null;
  /** How many faults are present. */
  #faults = 0;
  #attacked = false;
  readonly #samples: Sample[] = [];

  constructor(now = () => performance.now()) {
    this.#now = now;
    this.#calmSince = now();
  }

  /** A fault begins. */
  disturb(): void {
    this.#faults += 1;
    this.#calmSince = null;
  }

  /** A fault ends. */
  calm(): void {
    this.#faults -= 1;
    if (this.#faults === 0) this.#calmSince = this.#now();
  }

  attack(begins: boolean): void {
    this.#attacked = begins;
    // Calls that began before belong to neither group.
    if (this.#calmSince !== null) this.#calmSince = this.#now();
  }

  /** Records a call that began at an instant and has its response now, unless a fault overlapped it. */
  add(begun: number): void {
    const since = this.#calmSince;
    if (since === null || begun < since + settleMs) return;
    this.#samples.push({ ms: this.#now() - begun, attacked: this.#attacked });
  }

  /** Medians in ms; null when there are too few calls to compare. */
  compare(): { calm: number; attacked: number; calls: number } | null {
    const [calm, attacked] = [false, true].map((wanted) =>
      this.#samples.flatMap((sample) => (sample.attacked === wanted ? [sample.ms] : [])),
    );
    if (!calm || !attacked || Math.min(calm.length, attacked.length) < fewest) return null;
    return { calm: Math.max(median(calm), shortestMs), attacked: median(attacked), calls: this.#samples.length };
  }
}

/** By then the work postponed during a fault is done. */
const settleMs = 300;

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

/** A call without its texts. `of` is its caller's phone or user id, `session` the start of the session's id. */
type Call = { of: string | undefined; session: string | undefined; text: string; requestId: string | null };
type Caller = { phone: string; token: string | undefined };
type Entry = { at: number } & (Call | { of: null; text: string });

/** The caller as the token says, or else as the phone says. */
export function callerOf(token: string | undefined, phone: string | undefined): Pick<Call, 'of' | 'session'> {
  if (!token) return { of: phone, session: undefined };
  const { sub, sid } = decodeJwt<{ sid?: string }>(token);
  return { of: sub, session: sid?.slice(0, 8) };
}

/** Every call and fault of a run, so that a broken invariant can be explained. */
export class Timeline {
  readonly #entries: Entry[] = [];

  /** Records a fault or its end. */
  note(text: string): void {
    this.#entries.push({ at: Date.now(), of: null, text });
  }

  /** Records a call that began at an instant (unix ms). */
  call(at: number, call: Call): void {
    this.#entries.push({ at, ...call });
  }

  /** A line for each call of a user and each fault, in the order of their beginning; a call's log lines follow it. */
  linesOf({ phone, token }: Caller, logLines: Map<string | undefined, string[]>): string[] {
    const names = [phone, callerOf(token, phone).of];
    const own = this.#entries.filter(({ of }) => of === null || (of !== undefined && names.includes(of)));
    return own
      .toSorted((a, b) => a.at - b.at)
      .flatMap((entry) => {
        const at = new Date(entry.at).toISOString();
        if (entry.of === null) return [`${at} --- ${entry.text}`];
        const { session = '-', text, requestId } = entry;
        const logged = requestId === null ? [] : (logLines.get(requestId) ?? []);
        return [`${at} ${text}, session ${session}, request ${requestId ?? '-'}`, ...logged];
      });
  }
}
