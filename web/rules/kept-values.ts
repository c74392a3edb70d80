/** The part of the browser's `Storage` that is used. */
type Area = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/**
 * Values by key, in an area of the browser's storage. What the area does not take stays in memory: it may be blocked, which
 * throws already when it is named, or full.
 */
export class KeptValues {
  readonly #area: () => Area;
  readonly #memory = new Map<string, string>();

  constructor(area: () => Area) {
    this.#area = area;
  }

  read(key: string): string | null {
    return this.#memory.get(key) ?? quietly(() => this.#area().getItem(key));
  }

  write(key: string, value: string): void {
    // An older value must not come back when the page is loaded again.
    this.remove(key);
    this.#memory.set(key, value);
    quietly(() => {
      this.#area().setItem(key, value);
      this.#memory.delete(key);
    });
  }

  remove(key: string): void {
    this.#memory.delete(key);
    quietly(() => this.#area().removeItem(key));
  }

  /** Whether the area has it, so that it outlives the page. */
  isStored(key: string): boolean {
    return !this.#memory.has(key);
  }

  allKeys(): string[] {
    const stored = quietly(() => Object.keys(this.#area())) ?? [];
    return [...new Set([...stored, ...this.#memory.keys()])];
  }

  /** Another tab has changed a key, or (null) removed all. */
  noteChange(key: string | null): void {
    if (key === null) this.#memory.clear();
    else this.#memory.delete(key);
  }
}

function quietly<T>(action: () => T): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}
