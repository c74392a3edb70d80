import { useEffect, useEffectEvent } from 'react';

type Question = {
  /** What is asked about; null asks nothing. */
  about: string | null;
  /** The pause (ms) before the next question, so long (ms) after the first pause began; that of the beginning holds also for a page that is shown again. */
  pauseAfter: (elapsed: number) => number;
  /** `hasLeft`: it is not asked about any more. Returns whether the answer was the last one. */
  ask: (hasLeft: () => boolean) => Promise<boolean | void>;
};

/** Asks the server again and again what has happened, while the page is visible. */
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
