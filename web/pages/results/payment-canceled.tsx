import { Link } from '@tanstack/react-router';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { ResultPage } from '../../ui/result-page.tsx';
import { paymentCanceledWords } from '#words/results';
import { supportText } from './checkout-result.tsx';

export function PaymentCanceled() {
  return (
    <ResultPage
      mood="pause"
      title={paymentCanceledWords.title}
      text={paymentCanceledWords.text}
      below={supportText}
    >
      <div
        className={css({
          display: 'flex',
          flexWrap: 'wrap',
          justifyContent: 'center',
          gap: '3',
        })}
      >
        <Link
          to="/plans"
          className={button()}
        >
          {paymentCanceledWords.tryAgain}
        </Link>
        <Link
          to="/"
          className={button({ look: 'outline' })}
        >
          {paymentCanceledWords.home}
        </Link>
      </div>
    </ResultPage>
  );
}
