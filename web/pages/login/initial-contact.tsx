import { Link } from '@tanstack/react-router';
import { css } from '#styled/css';
import { button, link } from '#styled/recipes';
import { chatLink } from '#contract/brand';
import { Sentence, Unbroken } from '../../ui/text.tsx';
import { contactStepWords } from '#words/contact-way';
import { requestOtp } from '../../data/sign-in.ts';
import { usePhoneText } from '../../data/phone-plans.ts';
import { ExternalLink } from '../../ui/external-link.tsx';
import { TextWithIcon } from '../../ui/icons.tsx';
import { useLinkState } from './use-link-state.ts';
import { loadAfterMount } from '../../data/loaded-parts.tsx';
import { showCodeSent } from './sign-in-toasts.ts';
import { StepTitle } from './step-title.tsx';

const OtherDevice = loadAfterMount(() => import('./other-device.tsx'));

type Props = {
  phone: string;
  linkCode: string | undefined;
  setLinkCode: (linkCode: string | undefined) => void;
  goToCode: (number: string, challenge: string | undefined) => void;
  tryAnother: () => void;
};

export default function InitialContact({
  phone,
  linkCode,
  setLinkCode,
  goToCode,
  tryAnother,
}: Props) {
  const phoneText = usePhoneText(phone);
  const greeting = contactStepWords.greeting(phone.replace('+', ''));
  const text = linkCode ? `${greeting} ${linkCode}` : greeting;
  useContact({ phone, linkCode, setLinkCode, goToCode });
  return (
    <div className={css({ display: 'grid', gap: '5' })}>
      <StepTitle title={contactStepWords.title}>
        <Unbroken text={contactStepWords.text(phoneText)} />
      </StepTitle>
      <ExternalLink
        href={chatLink(text)}
        className={`${button({ size: 'lg', wide: true })} ${css({ paddingInline: '3' })}`}
        label={contactStepWords.link}
      >
        <TextWithIcon name="chat">{contactStepWords.link}</TextWithIcon>
      </ExternalLink>
      {linkCode && <p className={css({ textStyle: 'small' })}>{contactStepWords.code(linkCode)}</p>}
      <OtherDevice text={text} />
      <button
        type="button"
        className={button({ look: 'quiet', wide: true })}
        onClick={tryAnother}
      >
        {contactStepWords.differentNumber}
      </button>
      <p className={css({ textStyle: 'small', color: 'muted' })}>
        <Sentence parts={contactStepWords.moved({ contact })} />
      </p>
    </div>
  );
}

const contact = (text: string) => (
  <Link
    to="/contact"
    className={link()}
  >
    {text}
  </Link>
);

function useContact({ phone, linkCode, setLinkCode, goToCode }: Omit<Props, 'tryAnother'>): void {
  const goOn = (challenge: string | undefined) => {
    showCodeSent();
    goToCode(phone, challenge);
  };

  useLinkState({ phone, linkCode }, async (state, hasLeft) => {
    if (state === 'code_sent') return goOn(linkCode);
    if (state === 'waiting') return undefined;

    // Too old a link code: the request brings a code or a new one.
    const { success, requiresInitialContact, linkCode: fresh, challenge } = await requestOtp(phone);
    if (hasLeft()) return undefined;
    if (success) return goOn(challenge);
    if (requiresInitialContact) setLinkCode(fresh);
    return undefined;
  });
}
