import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { chatLink } from '#contract/brand';
import { contactStepWords, contactWayWords } from '#words/contact-way';
import { usePhoneText } from '../../data/phone-plans.ts';
import { ExternalLink } from '../../ui/external-link.tsx';
import { TextWithIcon } from '../../ui/icons.tsx';
import { Unbroken } from '../../ui/text.tsx';
import { useLinkState } from './use-link-state.ts';
import OtherDevice from './other-device.tsx';

type Props = { phone: string; linkCode: string; goOn: () => void; expire: () => void };

/** A message from the number itself brings a code. */
export default function CodeByMessage({ phone, linkCode, goOn, expire }: Props) {
  const phoneText = usePhoneText(phone);
  const text = `${contactWayWords.message} ${linkCode}`;
  useLinkState({ phone, linkCode }, (state) => {
    if (state === 'code_sent') goOn();
    if (state === 'expired') expire();
  });
  return (
    <div className={css({ display: 'grid', gap: '4' })}>
      <p>
        <Unbroken text={contactWayWords.limited({ code: linkCode, phone: phoneText })} />
      </p>
      <ExternalLink
        href={chatLink(text)}
        className={button({ look: 'outline', wide: true })}
        label={contactStepWords.link}
      >
        <TextWithIcon name="chat">{contactStepWords.link}</TextWithIcon>
      </ExternalLink>
      <OtherDevice text={text} />
    </div>
  );
}
