import { Link } from '@tanstack/react-router';
import { brand } from '#contract/brand';
import { css } from '#styled/css';
import { button, card, link } from '#styled/recipes';
import { Icon } from '../../ui/icon.tsx';
import { contactWords } from '../../words/contact.ts';

/** Address, number and hours, and the note about emergencies. */
export function SupportDetails() {
  return (
    <aside className={css({ display: 'grid', gap: '6' })} aria-label={contactWords.detailsTitle}>
      <section className={card()}>
        <h2 className={css({ textStyle: 'subheading' })}>{contactWords.detailsTitle}</h2>
        <p className={row}>
          <Icon name="mail" />
          <a href={`mailto:${brand.supportEmail}`} className={link()}>
            {brand.supportEmail}
          </a>
        </p>
        <p className={row}>
          <Icon name="phone" />
          <a href={`tel:${brand.businessPhone.replace(/[^\d+]/g, '')}`} className={link()}>
            {brand.businessPhone}
          </a>
        </p>
        <h3 className={css({ fontWeight: 'semibold' })}>{contactWords.hoursTitle}</h3>
        <p className={row}>
          <Icon name="clock" />
          {contactWords.hours}
        </p>
      </section>
      <section
        className={`${card()} ${css({ backgroundColor: 'warmSoft', color: 'onWarmSoft', borderColor: 'transparent' })}`}
      >
        <h2 className={css({ textStyle: 'subheading' })}>{contactWords.crisisTitle}</h2>
        <p>{contactWords.crisis}</p>
        <Link to="/help-now" className={button()}>
          {contactWords.help}
        </Link>
      </section>
    </aside>
  );
}

const row = css({
  display: 'flex',
  alignItems: 'center',
  gap: '3',
  color: 'muted',
  '& a': { overflowWrap: 'anywhere' },
});
