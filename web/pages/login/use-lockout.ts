import { useEffect, useState } from 'react';
import { keptSignIn } from '../../data/kept-steps.ts';
import { secondsLeft, withFailure } from '../../rules/sign-in-steps.ts';
import { steadyNow } from '../../data/clock.ts';

export type Lockout = {
  secondsLeft: number;
  isLocked: boolean;
  wasLocked: boolean;
  addFailure: () => void;
};

/** A reload does not end the cooldown. */
export function useLockout(): Lockout {
  const [state, setState] = useState(keptSignIn.lockout);
  const [now, setNow] = useState(steadyNow);
  const left = secondsLeft(state, now);
  const isLocked = left > 0;

  useEffect(() => {
    if (!isLocked) return undefined;
    const timer = setInterval(() => setNow(steadyNow()), 250);
    return () => clearInterval(timer);
  }, [isLocked]);

  const addFailure = () => {
    const next = withFailure(state, steadyNow());
    keptSignIn.keepLockout(next);
    setState(next);
    setNow(steadyNow());
  };
  return { isLocked, wasLocked: state.endsAt > 0 && !isLocked, secondsLeft: left, addFailure };
}
