import { useEffect, useState } from 'react';
import { readCodeState, type CodeState } from '../../data/sign-in.ts';
import { codeLifetimeMs } from '../../rules/sign-in-steps.ts';
import { usePolling } from './use-polling.ts';

const shortestMs = 3000;
/** The longest pause between two questions. */
const longestMs = 15_000;

/** Some 22 questions in the five minutes of a code. */
const pauseAfter = (elapsed: number) => Math.min(longestMs, Math.max(shortestMs, elapsed / 2));

type Awaited = {
  phone: string;
  challenge: string | null;
  isAwaited: boolean;
  /** Whether its time has not passed. */
  isYoung: () => boolean;
};
type Known = { challenge: string | null; state: CodeState | 'spent' };

export function useCodeState({ phone, challenge, isAwaited, isYoung }: Awaited) {
  const [known, setKnown] = useState<Known | null>(null);

  usePolling({
    subject: challenge,
    pauseAfter,
    poll: async (hasLeft) => {
      if (!challenge || !isAwaited) return false;
      const state = await readCodeState(phone, challenge);
      // The server says `expired` of used-up tries, too.
      const fits = state === 'expired' && isYoung() ? 'spent' : state;
      if (!hasLeft() && state !== 'sent') setKnown({ challenge, state: fits });
      return state !== 'sent';
    },
  });

  // Also of a code that is being typed, or whose response was lost.
  useEffect(() => {
    const expire = () =>
      setKnown((before) =>
        before?.challenge === challenge ? before : { challenge, state: 'expired' },
      );
    const timer = setTimeout(expire, codeLifetimeMs);
    return () => clearTimeout(timer);
  }, [challenge]);

  const state = known?.challenge === challenge ? known.state : 'sent';
  return {
    isUndelivered: state === 'undelivered',
    isExpired: state === 'expired',
    isSpent: state === 'spent',
    resetState: () => setKnown(null),
  };
}
