import { Link } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';
import { css } from '#styled/css';
import { button, link } from '#styled/recipes';
import { chatLink } from '#contract/brand';
import { Unbroken } from '../../ui/text.tsx';
import { loginWords } from '#words/login';
import { showToast } from '../../data/toasts.ts';
import { contactState, requestOtp } from '../../data/sign-in.ts';
import { usePhoneText } from '../../data/phone-plans.ts';
import { ExternalLink } from '../../ui/external-link.tsx';
import { TextWithIcon } from '../../ui/icons.tsx';
import { Sentence } from '../../ui/text.tsx';
import { codeSentToast } from './code-step.tsx';
import { StepTitle } from './login-step.tsx';

type Props = {
  phone: string;
  linkCode: string | undefined;
  setLinkCode: (linkCode: string | undefined) => void;
  goToCode: (number: string, challenge: string | undefined) => void;
  tryAnother: () => void;
};

/** Asks the user to write to the assistant first, since the number never has, and goes on when it has. */
export function InitialContact({ phone, linkCode, setLinkCode, goToCode, tryAnother }: Props) {
  const phoneText = usePhoneText(phone);
  const greeting = loginWords.greeting(phone.replace('+', ''));
  useContact({ phone, linkCode, setLinkCode, goToCode });
  return (
    <div className={css({ display: 'grid', gap: '5' })}>
      <StepTitle title={loginWords.contactTitle}>
        <Unbroken text={loginWords.contactText(phoneText)} />
      </StepTitle>
      <ExternalLink
        href={chatLink(linkCode ? `${greeting} ${linkCode}` : greeting)}
        className={`${button({ size: 'lg', wide: true })} ${css({ paddingInline: '3' })}`}
        label={loginWords.contactLink}
      >
        <TextWithIcon name="chat">{loginWords.contactLink}</TextWithIcon>
      </ExternalLink>
      {linkCode && (
        <p className={css({ textStyle: 'small' })}>{loginWords.contactCode(linkCode)}</p>
      )}
      <button type="button" className={button({ look: 'quiet', wide: true })} onClick={tryAnother}>
        {loginWords.differentNumber}
      </button>
      <p className={css({ textStyle: 'small', color: 'muted' })}>
        <Sentence parts={loginWords.contactMoved({ contact })} />
      </p>
    </div>
  );
}

const contact = (text: string) => (
  <Link to="/contact" className={link()}>
    {text}
  </Link>
);

const pauseMs = 3000;
/** Somebody who has not written after two minutes may be away. */
const patientAfterMs = 120_000;
const longPauseMs = 10_000;

/** Asks the server whether the message has arrived, while the page is visible. */
function useContact({ phone, linkCode, setLinkCode, goToCode }: Omit<Props, 'tryAnother'>): void {
  const goOn = (challenge: string | undefined) => {
    showToast({
      id: codeSentToast,
      type: 'success',
      title: loginWords.codeSentTitle,
      description: loginWords.codeSent,
    });
    goToCode(phone, challenge);
  };
  const proceed = useEffectEvent(async (state: string, hasLeft: () => boolean) => {
    if (state === 'code_sent') return goOn(linkCode);
    if (state === 'waiting') return undefined;
    // The link code is too old: a request brings a code for the number or a new one to show.
    const { success, requiresInitialContact, linkCode: fresh, challenge } = await requestOtp(phone);
    if (hasLeft()) return undefined;
    if (success) return goOn(challenge);
    if (requiresInitialContact) setLinkCode(fresh);
    return undefined;
  });

  useEffect(() => {
    if (!linkCode) return undefined;
    const began = performance.now();
    let timer: ReturnType<typeof setTimeout>;
    let isEnded = false;
    const ask = async () => {
      if (document.hidden) return;
      const state = await contactState(phone, linkCode);
      if (isEnded) return;
      await proceed(state, () => isEnded);
      if (!isEnded) wait();
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(
        () => void ask(),
        performance.now() - began < patientAfterMs ? pauseMs : longPauseMs,
      );
    };
    wait();
    document.addEventListener('visibilitychange', wait);
    return () => {
      isEnded = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', wait);
    };
  }, [phone, linkCode]);
}
