export type Lanes = {
  /** Runs after everything that stands in the same lane; lanes run beside each other. */
  add(lane: string, work: () => Promise<void>): Promise<void>;
  isBusy(lane: string): boolean;
  settled(lane: string): Promise<void>;
  allSettled(): Promise<void>;
};

/** Queues by name, so that each customer's events leave in order. */
export function createLanes(): Lanes {
  const tails = new Map<string, Promise<void>>();

  function add(lane: string, work: () => Promise<void>): Promise<void> {
    const tail = (tails.get(lane) ?? Promise.resolve()).then(work, work);
    tails.set(lane, tail);
    const leave = () => {
      if (tails.get(lane) === tail) tails.delete(lane);
    };
    tail.then(leave, leave);
    return tail;
  }
  async function allSettled(): Promise<void> {
    while (tails.size > 0) await Promise.allSettled(tails.values());
  }
  return {
    add,
    isBusy: (lane) => tails.has(lane),
    settled: async (lane) => {
      await tails.get(lane)?.catch(() => undefined);
    },
    allSettled,
  };
}
