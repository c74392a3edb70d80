import { type FormEvent, useId, useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { usePhoneText } from '../../data/phone-plans.ts';
import { Alert } from '../../ui/alert.tsx';
import { Refusal } from '../../ui/refusal.tsx';
import { Unbroken } from '../../ui/text.tsx';
import { visuallyHidden } from '../../ui/visually-hidden.ts';
import { loginWords } from '#words/login';
import { useCodeState } from './use-code-state.ts';
import type { Lockout } from './use-lockout.ts';
import { CodeLimitNotice, type LimitProps } from './code-limit.tsx';
import { showCodeSent } from './sign-in-toasts.ts';
import { StepTitle } from './step-title.tsx';
import { hasCode, newestChallenge } from '../../rules/sign-in-steps.ts';
import { serverClock } from '../../data/clock.ts';
import { useUnlessExpired } from '../../data/expiry.ts';
import { CodeField, useCodeFocus } from './code-field.tsx';
import { AskAgain, MissingCode, useLateness, useNewCode } from './missing-code.tsx';
import { useVerification, type VerificationOptions } from './use-verification.ts';

type Props = VerificationOptions & LimitProps & { back: () => void };

export default function CodeStep({ back, endSteps, ...props }: Props) {
  const { current, wishes, lockout, ...steps } = props;
  const { limit, setLimit, goToCode } = steps;
  const { phone } = current;
  const [code, setCode] = useState('');
  const titleId = useId();

  const { verify, isVerifying, failure, isRefused, reset } = useVerification({
    current,
    wishes,
    lockout,
    endSteps,
  });
  const refused = useUnlessExpired(failure);
  const input = useCodeFocus(failure, !lockout.isLocked && !isVerifying);

  const { isLate, restart } = useLateness();
  const { isUndelivered, isExpired, isSpent, resetState } = useCodeState({
    phone,
    challenge: newestChallenge(current, phone),
    isAwaited: code === '' && !isVerifying,
    isYoung: () => hasCode(current, phone, serverClock.now()),
  });

  const askAgain = useNewCode({ phone, setLimit }, (challenge) => {
    showCodeSent();
    goToCode(phone, challenge);
    setCode('');
    restart();
    resetState();
    reset();
    input.current?.focus();
  });

  const isOver = isUndelivered || isExpired || isSpent || isRefused;
  const isReady = /^\d{6}$/.test(code) && !isVerifying && !lockout.isLocked;
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
      <CodeTitle {...{ id: titleId, phone, isOver }} />
      {refused && <Refusal {...refused} />}
      {askAgain.failure && <Alert look="danger">{askAgain.failure}</Alert>}
      <CodeLimitNotice {...{ phone, limit, setLimit, goToCode }} />
      <CodeField
        ref={input}
        isLocked={lockout.isLocked}
        {...{ code, setCode, isOver }}
      />
      <SubmitButton {...{ isReady, isVerifying, lockout }} />
      <MissingCode {...{ phone, isLate: isLate && !isOver, isUndelivered, isExpired, isSpent }} />
      {(isLate || isOver) && <AskAgain {...askAgain} />}
      <ChangePhone onClick={back} />
      <LockoutAnnouncer {...lockout} />
    </form>
  );
}

type TitleProps = { id: string; phone: string; isOver: boolean };

function CodeTitle({ id, phone, isOver }: TitleProps) {
  const phoneText = usePhoneText(phone);
  return (
    <StepTitle
      id={id}
      focus={false}
      title={loginWords.codeTitle}
    >
      {!isOver && <Unbroken text={loginWords.codeLead(phoneText)} />}
    </StepTitle>
  );
}

type SubmitProps = { isReady: boolean; isVerifying: boolean; lockout: Lockout };

function SubmitButton({ isReady, isVerifying, lockout }: SubmitProps) {
  const label = isVerifying ? loginWords.verifying : loginWords.verify;
  return (
    <button
      type="submit"
      className={button({ size: 'lg', wide: true })}
      disabled={!isReady}
    >
      {lockout.isLocked ? loginWords.wait(lockout.secondsLeft) : label}
    </button>
  );
}

function ChangePhone({ onClick }: { onClick: () => void }) {
  return (
    <button
      type="button"
      className={button({ look: 'quiet', wide: true })}
      onClick={onClick}
    >
      {loginWords.changePhone}
    </button>
  );
}

function LockoutAnnouncer({ isLocked, wasLocked }: Lockout) {
  const unlocked = wasLocked ? loginWords.unlocked : '';
  return <output className={visuallyHidden}>{isLocked ? loginWords.locked : unlocked}</output>;
}
