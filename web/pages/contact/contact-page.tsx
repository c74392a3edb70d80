import { css } from '#styled/css';
import { card, page } from '#styled/recipes';
import { contactWords } from '../../words/contact.ts';
import { ContactForm } from './contact-form.tsx';
import { SupportDetails } from './support-details.tsx';

/** The contact form and the other contact details. */
export function ContactPage() {
  return (
    <div className={page()}>
      <header className={css({ display: 'grid', gap: '3', maxWidth: '[40rem]', marginBottom: '8' })}>
        <h1 className={css({ textStyle: 'display' })}>{contactWords.title}</h1>
        <p className={css({ textStyle: 'lead', color: 'muted' })}>{contactWords.lead}</p>
      </header>
      <div className={columns}>
        <div className={card({ look: 'raised' })}>
          <ContactForm />
        </div>
        <SupportDetails />
      </div>
    </div>
  );
}

const columns = css({
  display: 'grid',
  gridTemplateColumns: { base: '[minmax(0, 1fr)]', lg: '[minmax(0, 5fr) minmax(0, 3fr)]' },
  gap: '6',
  alignItems: 'start',
});
