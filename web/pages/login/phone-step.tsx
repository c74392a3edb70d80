import { readPhone } from '#contract/pasted';
import { Phone } from '#contract/schemas';
import { type FormEvent, useEffect, useState } from 'react';
import * as v from 'valibot';
import { css } from '#styled/css';
import { button, link } from '#styled/recipes';
import { showToast } from '../../data/toasts.ts';
import { phoneError } from '../../rules/sign-in-rules.ts';
import { loadNumberingPlans, loadedNumberingPlans } from '../../data/phone-plans.ts';
import { requestOtp } from '../../data/sign-in.ts';
import { Alert } from '../../ui/alert.tsx';
import { NeedsScript, TextField } from '../../ui/form-fields.tsx';
import { loginWords } from '#words/login';
import { showCodeSent } from './sign-in-toasts.ts';
import { StepTitle } from './step-title.tsx';
import { CodeLimitNotice, type LimitProps } from './code-limit.tsx';
import { Link } from '@tanstack/react-router';
import { Sentence } from '../../ui/text.tsx';

type Props = LimitProps & {
  phone: string;
  setPhone: (phone: string) => void;
  wasSent: boolean;
  setWasSent: (sent: boolean) => void;
  goToCode: (number: string, challenge: string | undefined) => void;
  /** For a code that was sent before. */
  openCode: (number: string) => void;
  hasCode: (number: string) => boolean;
  prepare: () => void;
  /** A code may have been sent without its challenge. */
  noteLost: (number: string) => void;
  goToContact: (number: string, linkCode: string | undefined) => void;
};

export function PhoneStep({ phone, setPhone, wasSent, setWasSent, ...steps }: Props) {
  const { limit, setLimit, goToCode } = steps;
  const [error, setError] = useState<string>();
  const [failure, setFailure] = useState<string>();
  const [isSending, setSending] = useState(false);

  useEffect(() => void loadNumberingPlans(), []);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isSending) return;

    const checked = v.safeParse(Phone, readPhone(phone, loadedNumberingPlans()), {
      abortPipeEarly: true,
    });
    setError(checked.issues && phoneError(checked.issues[0].type));
    setFailure(undefined);
    setLimit(null);

    if (!checked.success) return document.getElementById('phone')?.focus();

    setPhone(checked.output);
    setWasSent(true);
    setSending(true);

    steps.prepare();
    const problem = await sendCode(checked.output, steps);
    setSending(false);
    setFailure(problem);
  };

  const label = wasSent ? loginWords.resendCode : loginWords.sendCode;
  return (
    <form
      noValidate
      // A native submission would put the number into the address.
      method="dialog"
      onSubmit={(event) => void submit(event)}
      className={css({ display: 'grid', gap: '5' })}
    >
      <StepTitle
        title={loginWords.title}
        focus={wasSent}
      >
        {loginWords.lead}
      </StepTitle>
      <NeedsScript />
      {failure && <Alert look="danger">{failure}</Alert>}
      <CodeLimitNotice {...{ phone, limit, setLimit, goToCode }} />
      <PhoneField {...{ phone, setPhone, error, setError }} />
      <button
        type="submit"
        className={button({ size: 'lg', wide: true })}
        disabled={isSending}
      >
        {isSending ? loginWords.sending : label}
      </button>
      <LegalNote />
    </form>
  );
}

type PhoneFieldProps = Pick<Props, 'phone' | 'setPhone'> & {
  error: string | undefined;
  setError: (error: string | undefined) => void;
};

function PhoneField({ phone, setPhone, error, setError }: PhoneFieldProps) {
  const change = (typed: string) => {
    setPhone(typed);
    setError(undefined);
  };
  return (
    <TextField
      id="phone"
      name="phone"
      type="tel"
      autoComplete="tel"
      label={loginWords.phone}
      hint={loginWords.phoneHint}
      value={phone}
      error={error}
      onChange={({ target }) => change(target.value)}
    />
  );
}

type Steps = Omit<Props, 'phone' | 'setPhone' | 'wasSent' | 'setWasSent'>;

/** Returns what to say in this step. */
async function sendCode(number: string, steps: Steps): Promise<string | undefined> {
  const result = await requestOtp(number);

  if (result.requiresInitialContact) {
    steps.goToContact(number, result.linkCode);
    return undefined;
  }

  if (result.limit && steps.hasCode(number)) {
    showToast({ type: 'success', title: loginWords.codeAlreadySent });
    steps.openCode(number);
    return undefined;
  }

  if (result.limit) {
    steps.setLimit({ phone: number, ...result.limit });
    return undefined;
  }

  if (result.isLost) steps.noteLost(number);
  if (result.isNetworkError) return loginWords.networkError;
  if (!result.success) return result.message ?? loginWords.sendFailed;

  showCodeSent();
  steps.goToCode(number, result.challenge);
  return undefined;
}

function LegalNote() {
  const linkTo = (to: '/terms' | '/privacy') => (text: string) => (
    <Link
      to={to}
      className={link()}
    >
      {text}
    </Link>
  );
  return (
    <p className={css({ textStyle: 'fine', color: 'muted' })}>
      <Sentence
        parts={loginWords.agree({ terms: linkTo('/terms'), privacy: linkTo('/privacy') })}
      />
    </p>
  );
}
