import { css } from '#styled/css';
import { card, page, button, link } from '#styled/recipes';
import { contactWords } from '#words/contact';
import { Link, useHydrated } from '@tanstack/react-router';
import { brand } from '#contract/brand';
import { Alert } from '../../ui/alert.tsx';
import { Icon } from '../../ui/icons.tsx';
import { ContactForm } from './contact-form.tsx';

export function ContactPage() {
  return (
    <div className={page()}>
      <header
        className={css({
          display: 'grid',
          gap: '3',
          maxWidth: '[40rem]',
          marginBottom: '8',
        })}
      >
        <h1 className={css({ textStyle: 'display' })}>{contactWords.title}</h1>
        <p className={css({ textStyle: 'lead', color: 'muted' })}>{contactWords.lead}</p>
      </header>
      <NewOwnerNotice />
      <div className={columns}>
        <div className={card({ look: 'raised' })}>
          <ContactForm />
        </div>
        <SupportDetails />
      </div>
    </div>
  );
}

/** No code opens the page: the number may have a new owner. */
function NewOwnerNotice() {
  const isLedHere = useHydrated() && new URLSearchParams(location.search).has('about');
  return (
    <output
      className={css({
        display: 'block',
        '&:empty': { display: 'none' },
        marginBottom: '6',
      })}
    >
      {isLedHere && <Alert look="warm">{contactWords.newOwner}</Alert>}
    </output>
  );
}

const columns = css({
  display: 'grid',
  gridTemplateColumns: { base: '[minmax(0, 1fr)]', lg: '[minmax(0, 5fr) minmax(0, 3fr)]' },
  gap: '6',
  alignItems: 'start',
});

function SupportDetails() {
  return (
    <aside
      className={css({ display: 'grid', gap: '6' })}
      aria-label={contactWords.detailsTitle}
    >
      <section className={card()}>
        <h2 className={css({ textStyle: 'subheading' })}>{contactWords.detailsTitle}</h2>
        <p className={row}>
          <Icon name="mail" />
          <a
            href={`mailto:${brand.supportEmail}`}
            className={link()}
          >
            <bdi>{brand.supportEmail}</bdi>
          </a>
        </p>
        <p className={row}>
          <Icon name="phone" />
          <a
            href={`tel:${brand.businessPhone.replace(/[^\d+]/g, '')}`}
            className={link()}
          >
            <bdi>{brand.businessPhone}</bdi>
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
        <Link
          to="/help-now"
          className={button()}
        >
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
