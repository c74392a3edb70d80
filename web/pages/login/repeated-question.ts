import { useEffect, useEffectEvent } from 'react';

type Question = {
  /** Null asks nothing. */
  about: string | null;
  /** ms, by the time since the first pause, also of a page shown again. */
  pauseAfter: (elapsed: number) => number;
  /** Returns whether the response was final. */
  ask: (hasLeft: () => boolean) => Promise<boolean | void>;
};

/** While the page is visible. */
export function useRepeatedQuestion({ about, pauseAfter, ask }: Question): void {
  const askNow = useEffectEvent(ask);
  const pauseNow = useEffectEvent(pauseAfter);

  useEffect(() => {
    if (about === null) return undefined;
    const began = performance.now();
    let timer: ReturnType<typeof setTimeout>;
    let isEnded = false;
    const end = () => {
      isEnded = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', askSoon);
    };
    const next = async () => {
      if (document.hidden) return;
      const isLast = await askNow(() => isEnded);
      if (isEnded) return;
      if (isLast) return end();
      wait();
    };
    const askIn = (pause: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => void next(), pause);
    };
    const wait = () => askIn(pauseNow(performance.now() - began));
    const askSoon = () => askIn(pauseNow(0));
    wait();
    document.addEventListener('visibilitychange', askSoon);
    return end;
  }, [about]);
}
