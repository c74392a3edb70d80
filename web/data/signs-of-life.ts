const listeners = new Set<() => void>();

/** Each response of the API shows that the line is alive, so that a stream that has ended may begin again. */
export const signsOfLife = {
  note(): void {
    for (const listener of listeners) listener();
  },
  subscribe(listener: () => void): void {
    listeners.add(listener);
  },
};
