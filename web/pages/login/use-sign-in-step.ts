import { useEffect, useEffectEvent, useState } from 'react';
import { askServerTime } from '../../data/api-client.ts';
import { serverClock } from '../../data/clock.ts';
import { session } from '../../data/session.ts';
import { keptSignIn } from '../../data/kept-steps.ts';
import { firstStep, hasCode, withIssued, type SignInStep } from '../../rules/sign-in-steps.ts';
import { loginWords } from '#words/login';

/** A code too old by the server's clock leads back to the number. */
export function useSignInStep(isKept: boolean) {
  const [current, setCurrent] = useState(() => (isKept ? keptSignIn.step() : newStep()));
  const [notice, setNotice] = useState<string>();
  const keep = (next: SignInStep) => {
    keptSignIn.keepStep(next);
    setCurrent(next);
  };
  // A response may come after a later render.
  const change = (part: Partial<SignInStep>) => keep({ ...keptSignIn.step(), ...part });
  const addCode = (phone: string, challenge: string | null) =>
    keep(withIssued(keptSignIn.step(), { phone, challenge, at: knownTime() }));

  const checkAge = useEffectEvent(() => {
    const kept = keptSignIn.step();
    const isValid = !serverClock.isKnown || hasCode(kept, kept.phone, serverClock.now());
    if (isValid || kept.step !== 'code') return;
    setNotice(loginWords.codeTooOld);
    change({ issued: [], step: 'phone' });
  });
  useEffect(() => {
    if (isKept && keptSignIn.step().step === 'code') void askServerTime().then(checkAge);
  }, [isKept]);
  return { current, change, addCode, notice };
}

const knownTime = () => (serverClock.isKnown ? serverClock.now() : null);

function newStep(): SignInStep {
  const ownNumber = session.needsCode() ? session.get().user?.phoneNumber : undefined;
  return { ...firstStep, phone: ownNumber ?? '' };
}
