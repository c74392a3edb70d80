type Queues = {
  /** Runs after all earlier work of the same queue; queues run in parallel. */
  add(queue: string, work: () => Promise<void>): Promise<void>;
  isBusy(queue: string): boolean;
  settled(queue: string): Promise<void>;
  allSettled(): Promise<void>;
};

/** Queues by name, so that each customer's events removeIfLast in order. */
export function createQueues(): Queues {
  const tails = new Map<string, Promise<void>>();

  function add(queue: string, work: () => Promise<void>): Promise<void> {
    const tail = (tails.get(queue) ?? Promise.resolve()).then(work, work);
    tails.set(queue, tail);
    const removeIfLast = () => {
      if (tails.get(queue) === tail) tails.delete(queue);
    };
    tail.then(removeIfLast, removeIfLast);
    return tail;
  }
  async function allSettled(): Promise<void> {
    while (tails.size > 0) await Promise.allSettled(tails.values());
  }
  return {
    add,
    isBusy: (queue) => tails.has(queue),
    async settled(queue) {
      while (tails.has(queue)) await Promise.allSettled([tails.get(queue)]);
    },
    allSettled,
  };
}
