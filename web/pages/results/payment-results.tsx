import { Link } from '@tanstack/react-router';
import { useState, useEffect, useRef } from 'react';
import { css } from '#styled/css';
import { button, link } from '#styled/recipes';
import { Alert } from '../../ui/alert.tsx';
import { Spinner } from '../../ui/spinner.tsx';
import { ResultPage } from '../../ui/result-page.tsx';
import { loadInTime } from '../../data/promise-limit.ts';
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
  const [isUnchecked, setUnchecked] = useState(false);
  const isDone = useDelayedAction(1500, async () => {
    try {
      const { isRefreshed, isComplete } = await refreshAccount(sessionId);
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
      {isDone && <p>{isLoggedIn ? paymentSuccessWords.welcome : paymentSuccessWords.thanks}</p>}
      <Link
        to={isLoggedIn ? '/account' : '/login'}
        className={button()}
      >
        {isLoggedIn ? paymentSuccessWords.manage : paymentSuccessWords.login}
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
      below={support}
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

const email = (text: string) => (
  <a
    href={`mailto:${brand.supportEmail}`}
    className={link()}
  >
    {text}
  </a>
);
const support = <Sentence parts={paymentCanceledWords.support({ email })} />;

export function PaymentCanceled() {
  return (
    <ResultPage
      mood="pause"
      title={paymentCanceledWords.title}
      text={paymentCanceledWords.text}
      below={support}
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

export function DetailsSaved({ sessionId }: { sessionId: string | undefined }) {
  const [found, setFound] = useState<Refresh | null>(null);
  const isDone = useDelayedAction(2000, async () => {
    const fresh = await refreshAccount(sessionId).catch(() => null);
    setFound(fresh);
    if (!fresh?.isComplete) return;
    showToast({
      type: 'success',
      title: detailsSavedWords.title,
      description: detailsSavedWords.text,
    });
  });
  if (!isDone)
    return (
      <ResultPage
        mood="busy"
        title={detailsSavedWords.verifying}
      />
    );
  if (!found?.isComplete) return <Unchecked />;
  if (found.isPlanRefused) return <PlanRefused />;
  return (
    <ResultPage
      mood="good"
      title={detailsSavedWords.title}
      text={detailsSavedWords.text}
    >
      <ul className={css({ display: 'grid', gap: '3', textAlign: 'start' })}>
        {detailsSavedWords.points.map((point) => (
          <li
            key={point}
            className={css({ display: 'flex', gap: '3' })}
          >
            <span className={css({ flexShrink: '0', color: 'primary' })}>
              <Icon name="check" />
            </span>
            {point}
          </li>
        ))}
      </ul>
      <AccountOrHome
        account={detailsSavedWords.account}
        home={detailsSavedWords.home}
      />
    </ResultPage>
  );
}

/** Another's, unknown, not complete, or nobody could be asked. */
function Unchecked() {
  return (
    <ResultPage
      mood="pause"
      title={detailsSavedWords.uncheckedTitle}
      text={detailsSavedWords.uncheckedText}
      below={support}
    >
      <AccountOrHome
        account={detailsSavedWords.account}
        home={detailsSavedWords.home}
      />
    </ResultPage>
  );
}

function PlanRefused() {
  return (
    <ResultPage
      mood="pause"
      title={detailsSavedWords.refusedTitle}
      text={detailsSavedWords.refusedText}
      below={support}
    >
      <Link
        to="/plans"
        className={button()}
      >
        {detailsSavedWords.choose}
      </Link>
    </ResultPage>
  );
}

export function Processing({ sessionId }: { sessionId: string | undefined }) {
  const [isComplete, setComplete] = useState(false);
  const isDone = useDelayedAction(2000, async () => {
    const found = await refreshAccount(sessionId).catch(() => null);
    setComplete(found?.isComplete === true);
  });
  if (!isDone)
    return (
      <ResultPage
        mood="busy"
        title={processingWords.title}
        text={processingWords.text}
      />
    );
  if (!isComplete) return <Unchecked />;
  return (
    <ResultPage
      mood="good"
      title={processingWords.success}
      text={processingWords.successText}
    >
      <AccountOrHome
        account={processingWords.account}
        home={processingWords.home}
      />
    </ResultPage>
  );
}

function AccountOrHome({ account, home }: { account: string; home: string }) {
  const isLoggedIn = useSession(({ user }) => user !== null);
  return (
    <Link
      to={isLoggedIn ? '/account' : '/'}
      className={button()}
    >
      {isLoggedIn ? account : home}
    </Link>
  );
}

type Refresh = {
  isRefreshed: boolean;
  /** Also for a visitor, whose checkout nobody can ask about. */
  isComplete: boolean;
  isPlanRefused: boolean;
};

async function refreshAccount(sessionId: string | undefined): Promise<Refresh> {
  const { user } = await sessionReady();
  if (!user) return { isRefreshed: true, isComplete: true, isPlanRefused: false };
  const files = Promise.all([
    import('../../data/api-client.ts'),
    import('../../data/profile-query.ts'),
  ]);
  const [{ request }, { fetchProfile }] = await loadInTime(files);
  // Stripe's webhook may arrive after the user.
  const checkout = sessionId
    ? await request('verifyCheckoutSession', { sessionId }).catch(() => null)
    : { success: true };
  const isPlanRefused = checkout !== null && 'planRefused' in checkout;
  const { success } = await fetchProfile();
  return { isRefreshed: success, isComplete: checkout?.success === true, isPlanRefused };
}

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
