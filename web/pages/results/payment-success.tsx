import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { button } from '#styled/recipes';
import { Alert } from '../../ui/alert.tsx';
import { Spinner } from '../../ui/spinner.tsx';
import { ResultPage } from '../../ui/result-page.tsx';
import { useSession } from '../../data/session.ts';
import { paymentSuccessWords } from '#words/results';
import { refreshAfterCheckout, supportText, useDelayedAction } from './checkout-result.tsx';

export function PaymentSuccess({ sessionId }: { sessionId: string | undefined }) {
  const isSignedIn = useSession(({ user }) => user !== null);
  const [error, setError] = useState<string>();
  const [isUnchecked, setUnchecked] = useState(false);

  const isDone = useDelayedAction(1500, async () => {
    try {
      const { isRefreshed, isComplete } = await refreshAfterCheckout(sessionId);
      setUnchecked(!isComplete);
      if (!isRefreshed) setError(paymentSuccessWords.refreshFailed);
    } catch {
      setError(paymentSuccessWords.failed);
    }
  });

  if (isUnchecked && isDone) return <PaymentUnchecked />;
  return (
    <ResultPage
      mood="good"
      title={paymentSuccessWords.title}
      text={paymentSuccessWords.text}
      below={paymentSuccessWords.note}
    >
      {!isDone && <Spinner label={paymentSuccessWords.loading} />}
      {error && <Alert look="danger">{error}</Alert>}
      {isDone && <p>{isSignedIn ? paymentSuccessWords.welcome : paymentSuccessWords.thanks}</p>}
      <Link
        to={isSignedIn ? '/account' : '/login'}
        className={button()}
      >
        {isSignedIn ? paymentSuccessWords.manage : paymentSuccessWords.login}
      </Link>
    </ResultPage>
  );
}

/** Another's, unknown or not complete: nobody may be told that it was paid. */
function PaymentUnchecked() {
  return (
    <ResultPage
      mood="pause"
      title={paymentSuccessWords.uncheckedTitle}
      text={paymentSuccessWords.uncheckedText}
      below={supportText}
    >
      <Link
        to="/account"
        className={button()}
      >
        {paymentSuccessWords.manage}
      </Link>
    </ResultPage>
  );
}
