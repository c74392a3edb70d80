import { useEffect, useEffectEvent } from 'react';

type Polling = {
  /** Null polls nothing. */
  subject: string | null;
  /** ms, by the time since the first pause, also of a page shown again. */
  pauseAfter: (elapsed: number) => number;
  /** Returns whether the response was final. */
  poll: (hasLeft: () => boolean) => Promise<boolean | void>;
};

/** Polls while the page is visible. */
export function usePolling({ subject, pauseAfter, poll }: Polling): void {
  const pollNow = useEffectEvent(poll);
  const pauseNow = useEffectEvent(pauseAfter);

  useEffect(() => {
    if (subject === null) return undefined;
    const began = performance.now();
    let timer: ReturnType<typeof setTimeout>;
    let isEnded = false;
    const end = () => {
      isEnded = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', pollSoon);
    };
    const next = async () => {
      if (document.hidden) return;
      const isLast = await pollNow(() => isEnded);
      if (isEnded) return;
      if (isLast) return end();
      wait();
    };
    const pollIn = (pause: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => void next(), pause);
    };
    const wait = () => pollIn(pauseNow(performance.now() - began));
    const pollSoon = () => pollIn(pauseNow(0));
    wait();
    document.addEventListener('visibilitychange', pollSoon);
    return end;
  }, [subject]);
}
