type Started = 'microphone question' | 'recorder' | 'player' | 'looking for a reply';

const running = new Map<Started, () => void>();

/** Stopped when the page is left, whatever the way. */
export const started = {
  /** One of each kind. Call the result when it has ended by itself. */
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
    for (const kind of running.keys()) started.stop(kind);
  },
};
