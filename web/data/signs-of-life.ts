const listeners = new Set<() => void>();

/** Tells listeners that the connection works, which any response shows. */
export const signsOfLife = {
  note(): void {
    for (const listener of listeners) listener();
  },
  subscribe(listener: () => void): void {
    listeners.add(listener);
  },
};
