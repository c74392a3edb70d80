import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { cleanCode } from '../../rules/clean-input.ts';
import { codeError } from '../../rules/code-error.ts';
import { formatPhone } from '../../rules/format-phone.ts';
import { Alert } from '../../ui/alert.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { visuallyHidden } from '../../ui/visually-hidden.tsx';
import { loginWords } from '../../words/login.ts';
import { StepTitle } from './step-title.tsx';
import type { Lockout } from './use-lockout.ts';
import { useVerification } from './use-verification.ts';

type Props = { phone: string; plan: string | undefined; lockout: Lockout; back: () => void };

/** A code arrives within seconds; after this time the page suggests what to check. */
const lateAfter = 30_000;

/** Asks for the code and finishes the sign-in. */
export function CodeStep({ phone, plan, lockout, back }: Props) {
  const [code, setCode] = useState('');
  const [wasLeft, setWasLeft] = useState(false);
  const [isLate, setLate] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const titleId = useId();
  const { verify, isVerifying, failure } = useVerification({ phone, plan, lockout });
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
    <form noValidate aria-labelledby={titleId} onSubmit={submit} className={css({ display: 'grid', gap: '5' })}>
      <StepTitle id={titleId} focus={false} title={loginWords.codeTitle}>
        {loginWords.codeLead(formatPhone(phone))}
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
          setCode(cleanCode(target.value));
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
