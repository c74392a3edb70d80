import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { Alert } from '../../ui/alert.tsx';
import { Spinner } from '../../ui/spinner.tsx';
import { ResultPage } from '../../ui/result-page.tsx';
import { useSession } from '../../data/use-session.ts';
import { paymentSuccessWords } from '../../words/results.ts';
import { refreshAccount } from './refresh-account.ts';
import { useDelayedAction } from './use-delayed-action.ts';

/** The page after a successful payment. */
export function PaymentSuccess({ sessionId }: { sessionId: string | undefined }) {
  const isLoggedIn = useSession(({ user }) => user !== null);
  const [error, setError] = useState<string>();
  const isDone = useDelayedAction(1500, async () => {
    try {
      const isRefreshed = await refreshAccount(sessionId);
      if (!isRefreshed) setError(paymentSuccessWords.refreshFailed);
    } catch {
      setError(paymentSuccessWords.failed);
    }
  });
  return (
    <ResultPage mood="good" title={paymentSuccessWords.title} text={paymentSuccessWords.text}>
      {!isDone && <Spinner label={paymentSuccessWords.loading} />}
      {error && <Alert look="danger">{error}</Alert>}
      {isDone && <p>{isLoggedIn ? paymentSuccessWords.welcome : paymentSuccessWords.thanks}</p>}
      <p className={css({ textStyle: 'small', color: 'muted' })}>{paymentSuccessWords.note}</p>
      <Link to={isLoggedIn ? '/account' : '/login'} className={button()}>
        {isLoggedIn ? paymentSuccessWords.manage : paymentSuccessWords.login}
      </Link>
    </ResultPage>
  );
}
