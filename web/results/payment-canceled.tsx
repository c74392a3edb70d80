import { Link } from '@tanstack/react-router';
import { brand } from '#contract/brand';
import { css } from '#styled/css';
import { button, link } from '#styled/recipes';
import { Verdict } from '../ui/verdict.tsx';
import { words } from '../words.ts';

const { paymentCanceled } = words;

/** The return from a payment that the person left. */
export function PaymentCanceled() {
  return (
    <Verdict mood="pause" title={paymentCanceled.title} text={paymentCanceled.text}>
      <div className={css({ display: 'flex', flexWrap: 'wrap', justifyContent: 'center', gap: '3' })}>
        <Link to="/plans" className={button()}>
          {paymentCanceled.tryAgain}
        </Link>
        <Link to="/" className={button({ look: 'outline' })}>
          {paymentCanceled.home}
        </Link>
      </div>
      <p className={css({ textStyle: 'small', color: 'muted' })}>
        {paymentCanceled.supportBefore}
        <a href={`mailto:${brand.supportEmail}`} className={link()}>
          {brand.supportEmail}
        </a>
        {paymentCanceled.supportAfter}
      </p>
    </Verdict>
  );
}
