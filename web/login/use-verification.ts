import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { notify } from '../notices.ts';
import { verifyOtp } from '../sign-in.ts';
import { loginWords } from '../words/login.ts';
import { greet } from './greet.ts';
import type { Lockout } from './use-lockout.ts';

type Options = { phone: string; plan: string | undefined; lockout: Lockout };

/** Verifies codes: a good one leads on, a bad one is told and counted. */
export function useVerification({ phone, plan, lockout }: Options) {
  const [isVerifying, setVerifying] = useState(false);
  const [failure, setFailure] = useState<string>();
  const navigate = useNavigate();

  const verify = async (code: string) => {
    setVerifying(true);
    setFailure(undefined);
    const { success, status, message } = await verifyOtp(phone, code);
    setVerifying(false);
    if (success) return navigate({ to: greet(status, plan), replace: true });
    const text = message ?? loginWords.invalidCode;
    setFailure(text);
    lockout.noteFailure();
    notify({ type: 'error', title: loginWords.verificationFailed, description: text });
  };

  return { verify, isVerifying, failure };
}
