import { decodeJwt } from 'jose';
import { median } from '../bench/measurement.ts';

export class CallFigures {
  readonly calls = new Map<string, number>();
  readonly failures = new Map<string, number>();

  answered(kind: string, failure: string | null): void {
    add(this.calls, kind);
    if (failure !== null) add(this.failures, failure);
  }
}

export function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

export const total = (counts: Map<string, number>): number =>
  [...counts.values()].reduce((sum, each) => sum + each, 0);

/** Response times below this depend on the machine more than on the product. */
const shortestMs = 4;
const fewest = 30;
/** By then the work postponed during a fault is done. */
const settleMs = 300;

/** Response times of users' calls while every service works, with and without an attack. */
class Latencies {
  readonly #samples: Record<'calm' | 'attacked', number[]> = {
    calm: [],
    attacked: [],
  };
  #faults = 0;
  #attacked = false;
  /** When the last fault ended, or an attack began or ended: calls that began before belong to neither group. */
  #since = performance.now();

  disturb(): void {
    this.#faults += 1;
  }

  calm(): void {
    this.#faults -= 1;
    this.#since = performance.now();
  }

  attack(begins: boolean): void {
    this.#attacked = begins;
    this.#since = performance.now();
  }

  /** Records a call that began at an instant and has its response now, unless a fault overlapped it. */
  add(begun: number): void {
    if (this.#faults > 0 || begun < this.#since + settleMs) return;
    this.#samples[this.#attacked ? 'attacked' : 'calm'].push(performance.now() - begun);
  }

  /** Medians in ms; null when there are too few calls to compare. */
  compare(): {
    calm: number;
    attacked: number;
    calls: number;
  } | null {
    const { calm, attacked } = this.#samples;
    if (Math.min(calm.length, attacked.length) < fewest) return null;
    const calls = calm.length + attacked.length;
    return {
      calm: Math.max(median(calm), shortestMs),
      attacked: median(attacked),
      calls,
    };
  }
}

/** A call or a fault; `of` is the caller's phone or user id, null for a fault. */
type Entry = {
  at: number;
  of: string | null | undefined;
  text: string;
  requestId: string | null;
};

/** Every call and fault of a run, so that a broken invariant can be explained. */
class Timeline {
  readonly #entries: Entry[] = [];

  add(entry: Entry): void {
    this.#entries.push(entry);
  }

  note(text: string): void {
    this.add({
      at: Date.now(),
      of: null,
      text: `--- ${text}`,
      requestId: null,
    });
  }

  /** The calls of a user and all faults, by the time of their beginning; a call's log lines follow it. */
  linesOf(
    { phone, token }: { phone: string; token: string | undefined },
    logLines: Map<string | undefined, string[]>,
  ) {
    const names = [null, phone, token && decodeJwt(token).sub];
    const own = this.#entries.filter(({ of }) => of !== undefined && names.includes(of));
    return own
      .toSorted((a, b) => a.at - b.at)
      .flatMap(({ at, text, requestId }) => [
        `${new Date(at).toISOString()} ${text}`,
        ...((requestId !== null && logLines.get(requestId)) || []),
      ]);
  }
}

/** What the report tells; the facts that invariants check are in `person.ts`. */
export class Figures extends CallFigures {
  readonly attackers = new CallFigures();
  readonly latencies = new Latencies();
  readonly timeline = new Timeline();
  readonly faults = new Map<string, number>();
  restarts = 0;
  /** The longest time (ms) from a kill of the Worker until it responds. */
  slowestRestartMs = 0;
  /** The outages of the bot: the events that waited at their end, and the time (ms) until the bot had received them. */
  readonly outages: {
    manner: string;
    waiting: number;
    receivedMs: number | null;
  }[] = [];
  /** The times (ms) from a refused sign-in and a message to the assistant until the user was signed in. */
  readonly refusals: { phone: string; ms: number }[] = [];

  injected(fault: string): void {
    add(this.faults, fault);
    this.timeline.note(fault);
  }
}
