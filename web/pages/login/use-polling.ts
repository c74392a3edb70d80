import { useEffect, useEffectEvent } from 'react';

type Polling = {
  /** Null polls nothing. */
  subject: string | null;
  /** ms, by the time since the first pause, also of a page shown again. */
  pauseAfter: (elapsedMs: number) => number;
  /** Returns whether the response was final. */
  poll: (hasLeft: () => boolean) => Promise<boolean | void>;
};

/** Polls while the page is visible. */
export function usePolling({ subject, pauseAfter, poll }: Polling): void {
  const pollNow = useEffectEvent(poll);
  const pauseNow = useEffectEvent(pauseAfter);

  useEffect(() => {
    if (subject === null) return undefined;

    const beganAt = performance.now();
    let timer: ReturnType<typeof setTimeout>;
    let isEnded = false;

    const pollIn = (pauseMs: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => void pollOnce(), pauseMs);
    };
    const pollLater = () => pollIn(pauseNow(performance.now() - beganAt));
    const pollSoon = () => pollIn(pauseNow(0));

    const pollOnce = async () => {
      if (document.hidden) return;
      const isLast = await pollNow(() => isEnded);
      if (isEnded) return;
      if (isLast) end();
      else pollLater();
    };
    const end = () => {
      isEnded = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', pollSoon);
    };

    document.addEventListener('visibilitychange', pollSoon);
    pollLater();
    return end;
  }, [subject]);
}
