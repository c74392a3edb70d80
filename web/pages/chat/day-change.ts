import { useEffect, useReducer } from 'react';
import { deviceNow } from '../../data/clock.ts';
import { atInstant } from '../../data/expiry.ts';
import { nextMidnight } from '../../rules/moments.ts';

export function useDay(): void {
  const [, renderAgain] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    let end: () => void;
    const wait = () => {
      end = atInstant(nextMidnight(deviceNow()), deviceNow, nextDay);
    };
    const nextDay = () => {
      renderAgain();
      wait();
    };
    wait();
    return () => end();
  }, []);
}
