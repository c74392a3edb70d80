import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { Alert } from '../ui/alert.tsx';
import { Spinner } from '../ui/spinner.tsx';
import { Verdict } from '../ui/verdict.tsx';
import { useSession } from '../use-session.ts';
import { words } from '../words.ts';
import { refreshUser } from './refresh-user.ts';
import { useAfter } from './use-after.ts';

const { paymentSuccess } = words;

/** The return from a payment that went through. */
export function PaymentSuccess() {
  const isLoggedIn = useSession(({ user }) => user !== null);
  const [problem, setProblem] = useState<string>();
  const isDone = useAfter(1500, async () => {
    const reason = await refreshUser().catch(() => paymentSuccess.failed);
    if (reason !== null) setProblem(reason === paymentSuccess.failed ? reason : paymentSuccess.refreshFailed);
  });
  return (
    <Verdict mood="good" title={paymentSuccess.title} text={paymentSuccess.text}>
      {!isDone && <Spinner label={paymentSuccess.loading} />}
      {problem && <Alert look="danger">{problem}</Alert>}
      {isDone && <p>{isLoggedIn ? paymentSuccess.welcome : paymentSuccess.thanks}</p>}
      <p className={css({ textStyle: 'small', color: 'muted' })}>{paymentSuccess.note}</p>
      <Link to={isLoggedIn ? '/account' : '/login'} className={button()}>
        {isLoggedIn ? paymentSuccess.manage : paymentSuccess.login}
      </Link>
    </Verdict>
  );
}
