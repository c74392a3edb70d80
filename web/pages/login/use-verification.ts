import { useState } from 'react';
import type { SignInWishes } from '../../rules/destinations.ts';
import type { RefusalText } from '../../ui/refusal.tsx';
import { loginWords } from '#words/login';
import type { Lockout } from './use-lockout.ts';
import { codeSentToast, finishSignIn } from './sign-in-toasts.ts';
import { useNavigate } from '@tanstack/react-router';
import { showToast, dismissToast } from '../../data/toasts.ts';
import { keptSignIn } from '../../data/kept-steps.ts';
import { challengesFor, type SignInStep } from '../../rules/sign-in-steps.ts';
import { type SignInResult, verifyOtp } from '../../data/sign-in.ts';

export type VerificationOptions = {
  current: SignInStep;
  wishes: SignInWishes;
  lockout: Lockout;
  endSteps: () => Promise<void>;
};

export function useVerification({ current, wishes, lockout, endSteps }: VerificationOptions) {
  const [isVerifying, setVerifying] = useState(false);
  const [failure, setFailure] = useState<RefusalText>();
  const [isRefused, setRefused] = useState(false);
  const navigate = useNavigate();

  const verify = async (code: string) => {
    setVerifying(true);
    setFailure(undefined);
    dismissToast(codeSentToast);

    const { phone } = current;
    const challenge = challengesFor(current, phone);
    const result = await verifyOtp({ phone, otp: code, challenge });
    setVerifying(false);

    if (!result.success) return refuse(result);
    await endSteps();
    keptSignIn.remove();
    return navigate({ ...finishSignIn(result.status, wishes), replace: true });
  };

  const refuse = ({ code, message = loginWords.invalidCode, until = null }: SignInResult) => {
    const isSpent = code === 'code_spent';
    setFailure({ text: message, until, isFileMissing: code === 'file_missing' });
    setRefused(isSpent);

    if (!isSpent) lockout.addFailure();
    showToast({ type: 'error', title: loginWords.verificationFailed, description: message });
  };

  const reset = () => {
    setFailure(undefined);
    setRefused(false);
  };

  return { verify, isVerifying, failure, isRefused, reset };
}
