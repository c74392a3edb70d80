import { useEffect, useState } from 'react';

const maxFailures = 3;
const cooldown = 30_000;

export type Lockout = { secondsLeft: number; isLocked: boolean; wasLocked: boolean; addFailure: () => void };

/** Counts failed codes. The third starts a cooldown of 30 seconds. */
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

  const addFailure = () => {
    const locks = failures + 1 >= maxFailures;
    setFailures(locks ? 0 : failures + 1);
    if (!locks) return;
    setNow(Date.now());
    setEnd(Date.now() + cooldown);
  };
  return {
    isLocked,
    wasLocked: end !== null && !isLocked,
    secondsLeft: isLocked ? Math.ceil((end - now) / 1000) : 0,
    addFailure,
  };
}
