import { chatLink } from '#contract/brand';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { formatPhone } from '../../rules/format-phone.ts';
import { ExternalLink } from '../../ui/external-link.tsx';
import { Icon } from '../../ui/icon.tsx';
import { loginWords } from '../../words/login.ts';
import { StepTitle } from './step-title.tsx';

/** Asks the user to write to the assistant first, since the number never has. */
export function InitialContact({ phone, tryAnother }: { phone: string; tryAnother: () => void }) {
  const greeting = loginWords.greeting(phone.replace('+', ''));
  return (
    <div className={css({ display: 'grid', gap: '5' })}>
      <StepTitle title={loginWords.contactTitle}>{loginWords.contactText(formatPhone(phone))}</StepTitle>
      <ExternalLink href={chatLink(greeting)} className={button({ size: 'lg', wide: true })}>
        <Icon name="chat" />
        {loginWords.contactLink}
      </ExternalLink>
      <button type="button" className={button({ look: 'quiet', wide: true })} onClick={tryAnother}>
        {loginWords.differentNumber}
      </button>
    </div>
  );
}
