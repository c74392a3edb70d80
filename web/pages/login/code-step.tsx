import { type FormEvent, type Ref, useEffect, useId, useRef, useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import type { LoginWishes } from '../../rules/destinations.ts';
import { codeError, shownCode } from '../../rules/sign-in-rules.ts';
import { usePhoneText } from '../../data/phone-plans.ts';
import { Alert } from '../../ui/alert.tsx';
import { Refusal, type Refused } from '../../ui/refusal.tsx';
import { TextField } from '../../ui/form-fields.tsx';
import { visuallyHidden } from '../../ui/external-link.tsx';
import { Unbroken } from '../../ui/text.tsx';
import { apiErrorWords } from '#words/api-errors';
import { loginWords } from '#words/login';
import { chatLink } from '#contract/brand';
import { contactStepWords } from '#words/contact-way';
import { ExternalLink } from '../../ui/external-link.tsx';
import { TextWithIcon } from '../../ui/icons.tsx';
import { useCodeFate } from './code-state.ts';
import type { Lockout } from './lockout.ts';
import { Limited, type LimitProps } from './limited.tsx';
import { codeSentToast, showCodeSent, StepTitle, finishSignIn } from './login-step.tsx';
import { useNavigate } from '@tanstack/react-router';
import { showToast, dismissToast } from '../../data/toasts.ts';
import { keptSignIn } from '../../data/kept-steps.ts';
import {
  challengesFor,
  hasCode,
  newestChallenge,
  type SignInStep,
} from '../../rules/sign-in-steps.ts';
import { serverClock } from '../../data/clock.ts';
import { useUnlessExpired } from '../../data/expiry.ts';
import { requestOtp, verifyOtp } from '../../data/sign-in.ts';

type VerificationOptions = {
  current: SignInStep;
  wishes: LoginWishes;
  lockout: Lockout;
  endSteps: () => Promise<void>;
};
type Props = VerificationOptions & LimitProps & { back: () => void };

/** ms after which the page suggests what to check. */
const lateAfter = 30_000;

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
  const { isUndelivered, isExpired, isSpent, resetState } = useCodeFate({
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
      <Limited {...{ phone, limit, setLimit, goToCode }} />
      <CodeField
        ref={input}
        isLocked={lockout.isLocked}
        {...{ code, setCode, isOver }}
      />
      <SubmitButton {...{ isReady, isVerifying, lockout }} />
      <NoCode {...{ phone, isLate: isLate && !isOver, isUndelivered, isExpired, isSpent }} />
      {(isLate || isOver) && <AskAgain {...askAgain} />}
      <ChangePhone onClick={back} />
      <LockoutNews {...lockout} />
    </form>
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

type CodeFieldProps = {
  ref: Ref<HTMLInputElement>;
  code: string;
  setCode: (code: string) => void;
  isLocked: boolean;
  isOver: boolean;
};

function CodeField({ ref, code, setCode, isLocked, isOver }: CodeFieldProps) {
  const [wasLeft, setWasLeft] = useState(false);
  const change = (typed: string) => {
    setCode(shownCode(typed));
    setWasLeft(false);
  };
  return (
    <TextField
      ref={ref}
      look="code"
      name="otp"
      type="text"
      inputMode="numeric"
      autoComplete="one-time-code"
      label={loginWords.code}
      hint={isOver ? undefined : loginWords.codeHint}
      value={code}
      error={codeError(code, wasLeft)}
      disabled={isLocked}
      onBlur={() => setWasLeft(true)}
      onChange={({ target }) => change(target.value)}
    />
  );
}

type NewsProps = {
  phone: string;
  isLate: boolean;
  isUndelivered: boolean;
  isExpired: boolean;
  isSpent: boolean;
};

function NoCode({ phone, isLate, isUndelivered, isExpired, isSpent }: NewsProps) {
  const phoneText = usePhoneText(phone);
  return (
    <>
      <output>
        {isLate && <Alert>{loginWords.noCode}</Alert>}
        {isExpired && <Alert look="warm">{loginWords.codeTooOld}</Alert>}
        {isSpent && <Alert look="warm">{apiErrorWords.code_spent}</Alert>}
        {isUndelivered && (
          <Alert look="warm">
            <Unbroken text={loginWords.undelivered(phoneText)} />
          </Alert>
        )}
      </output>
      {isUndelivered && <WriteFirst />}
    </>
  );
}

type Asking = { isBusy: boolean; run: () => void };

function AskAgain({ isBusy, run }: Asking) {
  return (
    <button
      type="button"
      className={button({ look: 'outline', wide: true })}
      aria-busy={isBusy}
      onClick={run}
    >
      {isBusy ? loginWords.sending : loginWords.newCode}
    </button>
  );
}

function LockoutNews({ isLocked, wasLocked }: Lockout) {
  return (
    <output className={visuallyHidden}>
      {isLocked ? loginWords.locked : wasLocked ? loginWords.unlocked : ''}
    </output>
  );
}

/** A refused code is selected, so that the next one takes its place. */
function useCodeFocus(failure: Refused | undefined, isFree: boolean) {
  const input = useRef<HTMLInputElement>(null);
  // The form's name is announced with its field.
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    if (failure && isFree) input.current?.select();
  }, [failure, isFree]);
  return input;
}

function useLateness() {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), lateAfter);
    return () => clearTimeout(timer);
  }, []);
  return { isLate, restart: () => setLate(false) };
}

function WriteFirst() {
  return (
    <ExternalLink
      href={chatLink()}
      className={button({ look: 'outline', wide: true })}
      label={contactStepWords.link}
    >
      <TextWithIcon name="chat">{contactStepWords.link}</TextWithIcon>
    </ExternalLink>
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

type NewCode = Pick<LimitProps, 'setLimit'> & { phone: string };

function useNewCode({ phone, setLimit }: NewCode, onSent: (challenge: string | undefined) => void) {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const run = async () => {
    if (isBusy) return;
    setBusy(true);
    setFailure(undefined);
    setLimit(null);
    const { success, isNetworkError, message, challenge, limit } = await requestOtp(phone);
    setBusy(false);
    if (success) return onSent(challenge);
    if (limit) return setLimit({ phone, ...limit });
    return setFailure(
      isNetworkError ? loginWords.networkError : (message ?? loginWords.sendFailed),
    );
  };
  return { isBusy, failure, run: () => void run() };
}

function useVerification({ current, wishes, lockout, endSteps }: VerificationOptions) {
  const [isVerifying, setVerifying] = useState(false);
  const [failure, setFailure] = useState<Refused>();
  const [isRefused, setRefused] = useState(false);
  const navigate = useNavigate();

  const verify = async (code: string) => {
    setVerifying(true);
    setFailure(undefined);
    dismissToast(codeSentToast);
    const { phone } = current;
    const challenge = challengesFor(current, phone);
    const result = await verifyOtp({ phone, otp: code, challenge });
    const { success, status, message = loginWords.invalidCode, until = null } = result;
    setVerifying(false);
    if (success) {
      await endSteps();
      keptSignIn.remove();
      return navigate({ ...finishSignIn(status, wishes), replace: true });
    }
    const isFileMissing = result.code === 'file_missing';
    setFailure({ text: message, until, isFileMissing });
    setRefused(result.code === 'code_spent');
    if (result.code !== 'code_spent') lockout.addFailure();
    showToast({ type: 'error', title: loginWords.verificationFailed, description: message });
  };

  const reset = () => {
    setFailure(undefined);
    setRefused(false);
  };
  return { verify, isVerifying, failure, isRefused, reset };
}
