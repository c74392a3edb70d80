import { useState } from 'react';
import { codeState } from '../../data/sign-in.ts';
import { useRepeatedQuestion } from './repeated-question.ts';

const shortestMs = 3000;
const longestMs = 15_000;
/** WhatsApp says within moments that it cannot deliver. */
const promptUntilMs = 120_000;
const lateMs = 60_000;

/** 14 questions in the five minutes of a code. */
function pauseAfter(elapsed: number): number {
  if (elapsed >= promptUntilMs) return lateMs;
  return Math.min(longestMs, Math.max(shortestMs, elapsed / 2));
}

type Awaited = { phone: string; challenge: string | null; isAwaited: boolean };

export function useUndelivered({ phone, challenge, isAwaited }: Awaited) {
  const [undelivered, setUndelivered] = useState<string | null>(null);
  useRepeatedQuestion({
    about: challenge,
    pauseAfter,
    ask: async (hasLeft) => {
      if (!challenge || !isAwaited) return false;
      const state = await codeState(phone, challenge);
      if (!hasLeft() && state === 'undelivered') setUndelivered(challenge);
      return state !== 'sent';
    },
  });
  const isUndelivered = challenge !== null && undelivered === challenge;
  return { isUndelivered, forget: () => setUndelivered(null) };
}
