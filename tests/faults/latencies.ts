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
