const listeners = new Set<() => void>();

/** Any response shows that the line is alive. */
export const signsOfLife = {
  note(): void {
    for (const listener of listeners) listener();
  },
  subscribe(listener: () => void): void {
    listeners.add(listener);
  },
};
