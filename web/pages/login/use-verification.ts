import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { notify, withdrawNotice } from '../../data/notices.ts';
import { verifyOtp } from '../../data/sign-in.ts';
import { loginWords } from '../../words/login.ts';
import { finishSignIn } from './finish-sign-in.ts';
import type { Lockout } from './use-lockout.ts';

/** The id of the notice about a sent code. */
export const codeSentNotice = 'code-sent';

type Options = { phone: string; plan: string | undefined; lockout: Lockout };

/** Verifies codes. After a valid code it redirects; an invalid one is shown and counted. */
export function useVerification({ phone, plan, lockout }: Options) {
  const [isVerifying, setVerifying] = useState(false);
  const [failure, setFailure] = useState<string>();
  const navigate = useNavigate();

  const verify = async (code: string) => {
    setVerifying(true);
    setFailure(undefined);
    withdrawNotice(codeSentNotice);
    const { success, status, message = loginWords.invalidCode } = await verifyOtp(phone, code);
    setVerifying(false);
    if (success) return navigate({ to: finishSignIn(status, plan), replace: true });
    setFailure(message);
    lockout.addFailure();
    notify({ type: 'error', title: loginWords.verificationFailed, description: message });
  };

  return { verify, isVerifying, failure };
}
