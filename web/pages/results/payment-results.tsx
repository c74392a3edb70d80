import { Link } from '@tanstack/react-router';
import { useState, useEffect, useRef } from 'react';
import { css } from '#styled/css';
import { button, link } from '#styled/recipes';
import { Alert } from '../../ui/alert.tsx';
import { Spinner } from '../../ui/spinner.tsx';
import { ResultPage } from '../../ui/result-page.tsx';
import { useSession, sessionReady } from '../../data/session.ts';
import {
  paymentSuccessWords,
  paymentCanceledWords,
  detailsSavedWords,
  processingWords,
} from '#words/results';
import { brand } from '#contract/brand';
import { Sentence } from '../../ui/text.tsx';
import { showToast } from '../../data/toasts.ts';
import { Icon } from '../../ui/icons.tsx';

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

export function PaymentCanceled() {
  const email = (text: string) => (
    <a href={`mailto:${brand.supportEmail}`} className={link()}>
      {text}
    </a>
  );
  return (
    <ResultPage mood="pause" title={paymentCanceledWords.title} text={paymentCanceledWords.text}>
      <div
        className={css({ display: 'flex', flexWrap: 'wrap', justifyContent: 'center', gap: '3' })}
      >
        <Link to="/plans" className={button()}>
          {paymentCanceledWords.tryAgain}
        </Link>
        <Link to="/" className={button({ look: 'outline' })}>
          {paymentCanceledWords.home}
        </Link>
      </div>
      <p className={css({ textStyle: 'small', color: 'muted' })}>
        <Sentence parts={paymentCanceledWords.support({ email })} />
      </p>
    </ResultPage>
  );
}

export function DetailsSaved({ sessionId }: { sessionId: string | undefined }) {
  const isDone = useDelayedAction(2000, async () => {
    await refreshAccount(sessionId).catch(() => null);
    showToast({
      type: 'success',
      title: detailsSavedWords.title,
      description: detailsSavedWords.text,
    });
  });
  if (!isDone) return <ResultPage mood="busy" title={detailsSavedWords.verifying} />;
  return (
    <ResultPage mood="good" title={detailsSavedWords.title} text={detailsSavedWords.text}>
      <ul className={css({ display: 'grid', gap: '3', textAlign: 'start' })}>
        {detailsSavedWords.points.map((point) => (
          <li key={point} className={css({ display: 'flex', gap: '3' })}>
            <span className={css({ flexShrink: '0', color: 'primary' })}>
              <Icon name="check" />
            </span>
            {point}
          </li>
        ))}
      </ul>
      <AccountOrHome account={detailsSavedWords.account} home={detailsSavedWords.home} />
    </ResultPage>
  );
}

export function Processing({ sessionId }: { sessionId: string | undefined }) {
  const isDone = useDelayedAction(
    2000,
    async () => void (await refreshAccount(sessionId).catch(() => null)),
  );
  if (!isDone)
    return <ResultPage mood="busy" title={processingWords.title} text={processingWords.text} />;
  return (
    <ResultPage mood="good" title={processingWords.success} text={processingWords.successText}>
      <AccountOrHome account={processingWords.account} home={processingWords.home} />
    </ResultPage>
  );
}

function AccountOrHome({ account, home }: { account: string; home: string }) {
  const isLoggedIn = useSession(({ user }) => user !== null);
  return (
    <Link to={isLoggedIn ? '/account' : '/'} className={button()}>
      {isLoggedIn ? account : home}
    </Link>
  );
}

/** Syncs the plan and fetches the profile of a signed-in user. Returns whether the profile is up to date. */
async function refreshAccount(sessionId: string | undefined): Promise<boolean> {
  const { user } = await sessionReady();
  if (!user) return true;
  const [{ request }, { fetchProfile }] = await Promise.all([
    import('../../data/api-client.ts'),
    import('../../data/profile-query.ts'),
  ]);
  // Stripe's webhook may arrive after the user; this call syncs the subscription now.
  if (sessionId) await request('verifyCheckoutSession', { sessionId }).catch(() => null);
  const { success } = await fetchProfile();
  return success;
}

/** Runs the action once, after a delay in milliseconds; returns whether it is done. */
function useDelayedAction(milliseconds: number, action: () => Promise<void>): boolean {
  const [isDone, setDone] = useState(false);
  const latest = useRef(action);
  useEffect(() => {
    let isHere = true;
    const timer = setTimeout(
      () => void latest.current().finally(() => isHere && setDone(true)),
      milliseconds,
    );
    return () => {
      isHere = false;
      clearTimeout(timer);
    };
  }, [milliseconds]);
  return isDone;
}
