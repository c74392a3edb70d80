import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { notify } from '../notices.ts';
import { afterLogin } from '../rules/after-login.ts';
import { verifyOtp } from '../sign-in.ts';
import { loginWords } from '../words/login.ts';
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
    if (success) return arrive(status);
    const text = message ?? loginWords.invalidCode;
    setFailure(text);
    lockout.noteFailure();
    notify({ type: 'error', title: loginWords.verificationFailed, description: text });
  };

  const arrive = async (status: string) => {
    const { to, notice } = afterLogin(status, plan);
    if (notice === 'success') notify({ type: 'success', title: loginWords.success });
    if (notice === 'issue')
      notify({ type: 'error', title: loginWords.issueTitle, description: loginWords.issue(status) });
    await navigate({ to, replace: true });
  };

  return { verify, isVerifying, failure };
}
