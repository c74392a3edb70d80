import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { Alert } from '../ui/alert.tsx';
import { Spinner } from '../ui/spinner.tsx';
import { Verdict } from '../ui/verdict.tsx';
import { useSession } from '../use-session.ts';
import { paymentSuccessWords } from '../words/results.ts';
import { refreshUser } from './refresh-user.ts';
import { useAfter } from './use-after.ts';

/** The return from a payment that went through. */
export function PaymentSuccess({ sessionId }: { sessionId: string | undefined }) {
  const isLoggedIn = useSession(({ user }) => user !== null);
  const [problem, setProblem] = useState<string>();
  const isDone = useAfter(1500, async () => {
    const reason = await refreshUser(sessionId).catch(() => paymentSuccessWords.failed);
    if (reason !== null) setProblem(reason === paymentSuccessWords.failed ? reason : paymentSuccessWords.refreshFailed);
  });
  return (
    <Verdict mood="good" title={paymentSuccessWords.title} text={paymentSuccessWords.text}>
      {!isDone && <Spinner label={paymentSuccessWords.loading} />}
      {problem && <Alert look="danger">{problem}</Alert>}
      {isDone && <p>{isLoggedIn ? paymentSuccessWords.welcome : paymentSuccessWords.thanks}</p>}
      <p className={css({ textStyle: 'small', color: 'muted' })}>{paymentSuccessWords.note}</p>
      <Link to={isLoggedIn ? '/account' : '/login'} className={button()}>
        {isLoggedIn ? paymentSuccessWords.manage : paymentSuccessWords.login}
      </Link>
    </Verdict>
  );
}
