import { useEffect, useState } from 'react';
import { button } from '#styled/recipes';
import { usePhoneText } from '../../data/phone-plans.ts';
import { Alert } from '../../ui/alert.tsx';
import { Unbroken } from '../../ui/text.tsx';
import { apiErrorWords } from '#words/api-errors';
import { loginWords } from '#words/login';
import { chatLink } from '#contract/brand';
import { contactStepWords } from '#words/contact-way';
import { ExternalLink } from '../../ui/external-link.tsx';
import { TextWithIcon } from '../../ui/icons.tsx';
import type { LimitProps } from './code-limit.tsx';
import { requestOtp } from '../../data/sign-in.ts';

/** When the page suggests what to check. */
const lateAfterMs = 30_000;

type MissingCodeProps = {
  phone: string;
  isLate: boolean;
  isUndelivered: boolean;
  isExpired: boolean;
  isSpent: boolean;
};

export function MissingCode({
  phone,
  isLate,
  isUndelivered,
  isExpired,
  isSpent,
}: MissingCodeProps) {
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

type Asking = { isBusy: boolean; run: () => void };

export function AskAgain({ isBusy, run }: Asking) {
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

type NewCode = Pick<LimitProps, 'setLimit'> & { phone: string };

export function useNewCode(
  { phone, setLimit }: NewCode,
  onSent: (challenge: string | undefined) => void,
) {
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

export function useLateness() {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), lateAfterMs);
    return () => clearTimeout(timer);
  }, []);
  return { isLate, restart: () => setLate(false) };
}
