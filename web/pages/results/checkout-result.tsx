import { Link } from '@tanstack/react-router';
import { useState, useEffect, useRef } from 'react';
import { button, link } from '#styled/recipes';
import { ResultPage } from '../../ui/result-page.tsx';
import { loadInTime } from '../../data/promise-limit.ts';
import { useSession, sessionReady } from '../../data/session.ts';
import { paymentCanceledWords, detailsSavedWords } from '#words/results';
import { brand } from '#contract/brand';
import { Sentence } from '../../ui/text.tsx';

const email = (text: string) => (
  <a
    href={`mailto:${brand.supportEmail}`}
    className={link()}
  >
    {text}
  </a>
);
export const supportText = <Sentence parts={paymentCanceledWords.support({ email })} />;

/** Another's, unknown, not complete, or nobody could be asked. */
export function CheckoutUnchecked() {
  return (
    <ResultPage
      mood="pause"
      title={detailsSavedWords.uncheckedTitle}
      text={detailsSavedWords.uncheckedText}
      below={supportText}
    >
      <AccountOrHome
        account={detailsSavedWords.account}
        home={detailsSavedWords.home}
      />
    </ResultPage>
  );
}

export function AccountOrHome({ account, home }: { account: string; home: string }) {
  const isSignedIn = useSession(({ user }) => user !== null);
  return (
    <Link
      to={isSignedIn ? '/account' : '/'}
      className={button()}
    >
      {isSignedIn ? account : home}
    </Link>
  );
}

export type CheckoutResult = {
  isRefreshed: boolean;
  /** Also for a visitor, whose checkout nobody can ask about. */
  isComplete: boolean;
  isPlanRefused: boolean;
};

export async function refreshAfterCheckout(sessionId: string | undefined): Promise<CheckoutResult> {
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

export function useDelayedAction(milliseconds: number, action: () => Promise<void>): boolean {
  const [isDone, setDone] = useState(false);
  const firstAction = useRef(action);
  useEffect(() => {
    let isHere = true;
    const timer = setTimeout(
      () => void firstAction.current().finally(() => isHere && setDone(true)),
      milliseconds,
    );
    return () => {
      isHere = false;
      clearTimeout(timer);
    };
  }, [milliseconds]);
  return isDone;
}
