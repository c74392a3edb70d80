import { useEffect, useReducer } from 'react';
import { serverClock } from './clock.ts';

/** A device that sleeps stops the page's clock, which the server then puts right. */
const longestTimerMs = 60_000;

/** Calls `listener` at an instant, also if the device slept. Returns what ends the waiting. */
export function atInstant(instant: number, now: () => number, listener: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', look);
  };
  const look = () => {
    clearTimeout(timer);
    const left = instant - now();
    if (left > 0) {
      timer = setTimeout(look, Math.min(left, longestTimerMs));
      return;
    }
    end();
    listener();
  };

  document.addEventListener('visibilitychange', look);
  look();
  return end;
}

function useIsAhead(instant: string | null | undefined): boolean {
  const [, renderAgain] = useReducer((count: number) => count + 1, 0);
  const at = instant ? Date.parse(instant) : 0;
  const isAhead = at > serverClock.now();
  useEffect(() => {
    if (!isAhead) return undefined;
    return atInstant(at, () => serverClock.now(), renderAgain);
  }, [at, isAhead]);
  return isAhead;
}

/** Returns the refusal; null once its time has come. */
export function useUnlessExpired<Refused extends { until: string | null }>(
  refused: Refused | null | undefined,
): Refused | null {
  const isAhead = useIsAhead(refused?.until);
  if (!refused) return null;
  return refused.until === null || isAhead ? refused : null;
}
