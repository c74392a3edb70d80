import { useEffect, useRef, useState } from 'react';

/** Runs the action once, after a delay in milliseconds; returns whether it is done. */
export function useDelayedAction(milliseconds: number, action: () => Promise<void>): boolean {
  const [isDone, setDone] = useState(false);
  const latest = useRef(action);
  useEffect(() => {
    let isHere = true;
    const timer = setTimeout(() => void latest.current().finally(() => isHere && setDone(true)), milliseconds);
    return () => {
      isHere = false;
      clearTimeout(timer);
    };
  }, [milliseconds]);
  return isDone;
}
