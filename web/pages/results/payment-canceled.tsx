import { Link } from '@tanstack/react-router';
import { brand } from '#contract/brand';
import { css } from '#styled/css';
import { button, link } from '#styled/recipes';
import { Sentence } from '../../ui/sentence.tsx';
import { ResultPage } from '../../ui/result-page.tsx';
import { paymentCanceledWords } from '../../words/results.ts';

/** The page after a cancelled payment. */
export function PaymentCanceled() {
  const email = (
    <a href={`mailto:${brand.supportEmail}`} className={link()}>
      {brand.supportEmail}
    </a>
  );
  return (
    <ResultPage mood="pause" title={paymentCanceledWords.title} text={paymentCanceledWords.text}>
      <div className={css({ display: 'flex', flexWrap: 'wrap', justifyContent: 'center', gap: '3' })}>
        <Link to="/plans" className={button()}>
          {paymentCanceledWords.tryAgain}
        </Link>
        <Link to="/" className={button({ look: 'outline' })}>
          {paymentCanceledWords.home}
        </Link>
      </div>
      <p className={css({ textStyle: 'small', color: 'muted' })}>
        <Sentence text={paymentCanceledWords.support} parts={{ email }} />
      </p>
    </ResultPage>
  );
}
