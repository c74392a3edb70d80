type Started = 'microphone question' | 'recorder' | 'player' | 'looking for a reply';

const running = new Map<Started, () => void>();

/** What runs in a page, and is stopped when the page is left in any way. */
export const runningWork = {
  /** Adds the one of its kind. Call the result when it has ended by itself. */
  add(kind: Started, stop: () => void): () => void {
    running.set(kind, stop);
    return () => {
      if (running.get(kind) === stop) running.delete(kind);
    };
  },

  stop(kind: Started): void {
    const stop = running.get(kind);
    running.delete(kind);
    stop?.();
  },

  stopAll(): void {
    for (const kind of running.keys()) runningWork.stop(kind);
  },
};
