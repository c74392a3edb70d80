import { useEffect, useState } from 'react';

const maxFailures = 3;
const cooldown = 30_000;

export type Lockout = { secondsLeft: number; isLocked: boolean; wasLocked: boolean; noteFailure: () => boolean };

/** Counts failed codes; the third starts a cooldown. `noteFailure` answers whether it did. */
export function useLockout(): Lockout {
  const [failures, setFailures] = useState(0);
  const [end, setEnd] = useState<number | null>(null);
  const [now, setNow] = useState(0);
  const isLocked = end !== null && now < end;

  useEffect(() => {
    if (!isLocked) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [isLocked]);

  const noteFailure = () => {
    const locks = failures + 1 >= maxFailures;
    setFailures(locks ? 0 : failures + 1);
    if (locks) {
      setNow(Date.now());
      setEnd(Date.now() + cooldown);
    }
    return locks;
  };
  return {
    isLocked,
    wasLocked: end !== null && !isLocked,
    secondsLeft: isLocked ? Math.ceil((end - now) / 1000) : 0,
    noteFailure,
  };
}
