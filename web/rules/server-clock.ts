type Clock = () => number;

/** The server's time, measured with a monotonic clock. The device's clock may be wrong or jump. */
export class ServerClock {
  readonly #monotonic: Clock;
  readonly #device: Clock;
  #offset = Number.NEGATIVE_INFINITY;

  constructor(monotonic: Clock, device: Clock) {
    this.#monotonic = monotonic;
    this.#device = device;
  }

  get isKnown(): boolean {
    return Number.isFinite(this.#offset);
  }

  /** ISO 8601, or an HTTP date. A late arrival says a past time, and changes nothing. */
  learn(said: string | null): void {
    const at = Date.parse(said ?? '');
    if (!Number.isNaN(at)) this.#offset = Math.max(this.#offset, at - this.#monotonic());
  }

  /** Unix ms; the device's until the server has said its own. */
  now(): number {
    return this.isKnown ? this.#monotonic() + this.#offset : this.#device();
  }

  iso(): string {
    return new Date(this.now()).toISOString();
  }

  /** ms between 0 and `most`; `most` while the server's time is unknown. */
  until(instant: string, most: number): number {
    if (!this.isKnown) return most;
    return Math.min(most, Math.max(0, Date.parse(instant) - this.now()));
  }
}
