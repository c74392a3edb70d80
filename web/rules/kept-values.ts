type Area = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Memory holds what the area refuses: it may be full, or throw when named. */
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
    // A reload must not bring back an older value.
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

  /** Whether the value outlives the page. */
  isStored(key: string): boolean {
    return !this.#memory.has(key);
  }

  allKeys(): string[] {
    const stored = quietly(() => Object.keys(this.#area())) ?? [];
    return [...new Set([...stored, ...this.#memory.keys()])];
  }

  /** Notes a change by another tab; null stands for all keys. */
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
