import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import type { LoginWishes } from '../../rules/destinations.ts';
import { codeError, shownCode } from '../../rules/sign-in-rules.ts';
import { usePhoneText } from '../../data/phone-plans.ts';
import { Alert } from '../../ui/alert.tsx';
import { TextField } from '../../ui/form-fields.tsx';
import { visuallyHidden } from '../../ui/external-link.tsx';
import { Unbroken } from '../../ui/text.tsx';
import { loginWords } from '#words/login';
import { StepTitle, finishSignIn } from './login-step.tsx';
import { useNavigate } from '@tanstack/react-router';
import { showToast, withdrawToast } from '../../data/toasts.ts';
import { verifyOtp } from '../../data/sign-in.ts';

type Options = {
  phone: string;
  challenge: string | undefined;
  wishes: LoginWishes;
  lockout: Lockout;
};
type Props = Options & { back: () => void };

/** A code arrives within seconds; after this time the page suggests what to check. */
const lateAfter = 30_000;

export function CodeStep({ phone, challenge, wishes, lockout, back }: Props) {
  const [code, setCode] = useState('');
  const [wasLeft, setWasLeft] = useState(false);
  const [isLate, setLate] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const titleId = useId();
  const phoneText = usePhoneText(phone);
  const { verify, isVerifying, failure } = useVerification({ phone, challenge, wishes, lockout });
  const isReady = /^\d{6}$/.test(code) && !isVerifying && !lockout.isLocked;

  useEffect(() => {
    const timer = setTimeout(() => setLate(true), lateAfter);
    return () => clearTimeout(timer);
  }, []);
  // Screen readers announce the form's name with its field.
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    if (failure && !lockout.isLocked && !isVerifying) input.current?.select();
  }, [failure, lockout.isLocked, isVerifying]);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) void verify(code);
  };

  return (
    <form
      noValidate
      aria-labelledby={titleId}
      onSubmit={submit}
      className={css({ display: 'grid', gap: '5' })}
    >
      <StepTitle id={titleId} focus={false} title={loginWords.codeTitle}>
        <Unbroken text={loginWords.codeLead(phoneText)} />
      </StepTitle>
      {failure && <Alert look="danger">{failure}</Alert>}
      <TextField
        ref={input}
        look="code"
        name="otp"
        type="text"
        inputMode="numeric"
        autoComplete="one-time-code"
        label={loginWords.code}
        hint={loginWords.codeHint}
        value={code}
        error={codeError(code, wasLeft)}
        disabled={lockout.isLocked}
        onBlur={() => setWasLeft(true)}
        onChange={({ target }) => {
          setCode(shownCode(target.value));
          setWasLeft(false);
        }}
      />
      <button type="submit" className={button({ size: 'lg', wide: true })} disabled={!isReady}>
        {submitLabel(lockout, isVerifying)}
      </button>
      <output>{isLate && <Alert>{loginWords.noCode}</Alert>}</output>
      <button type="button" className={button({ look: 'quiet', wide: true })} onClick={back}>
        {loginWords.changePhone}
      </button>
      <output className={visuallyHidden}>
        {lockout.isLocked ? loginWords.locked : lockout.wasLocked ? loginWords.unlocked : ''}
      </output>
    </form>
  );
}

function submitLabel(lockout: Lockout, isVerifying: boolean): string {
  if (lockout.isLocked) return loginWords.wait(lockout.secondsLeft);
  return isVerifying ? loginWords.verifying : loginWords.verify;
}

export const codeSentToast = 'code-sent';

/** Verifies codes. After a valid code it redirects; an invalid one is shown and counted. */
function useVerification({ phone, challenge, wishes, lockout }: Options) {
  const [isVerifying, setVerifying] = useState(false);
  const [failure, setFailure] = useState<string>();
  const navigate = useNavigate();

  const verify = async (code: string) => {
    setVerifying(true);
    setFailure(undefined);
    withdrawToast(codeSentToast);
    const {
      success,
      status,
      message = loginWords.invalidCode,
    } = await verifyOtp({ phone, otp: code, challenge });
    setVerifying(false);
    if (success) return navigate({ to: finishSignIn(status, wishes), replace: true });
    setFailure(message);
    lockout.addFailure();
    showToast({ type: 'error', title: loginWords.verificationFailed, description: message });
  };

  return { verify, isVerifying, failure };
}

const maxFailures = 3;
const cooldown = 30_000;

export type Lockout = {
  secondsLeft: number;
  isLocked: boolean;
  wasLocked: boolean;
  addFailure: () => void;
};

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
