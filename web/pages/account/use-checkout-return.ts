import { useNavigate, useSearch } from '@tanstack/react-router';
import { planOf } from '#contract/plans';
import { useEffect, useRef } from 'react';
import { call } from '../../data/api.ts';
import { notify } from '../../data/notices.ts';
import { fetchProfile } from '../../data/me.ts';
import { accountWords } from '../../words/account.ts';

/** Updates the plan when the user returns from the payment provider. */
export function useCheckoutReturn(): void {
  const { session_id: sessionId, status } = useSearch({ from: '/account' });
  const navigate = useNavigate();
  const handled = useRef('');
  const isReturn = sessionId !== undefined || status === 'success' || status === 'cancelled';

  useEffect(() => {
    const visit = `${sessionId} ${status}`;
    if (!isReturn || handled.current === visit) return;
    handled.current = visit;
    void welcomeBack(sessionId).then(() => navigate({ to: '/account', search: {}, replace: true }));
  }, [isReturn, sessionId, status, navigate]);
}

async function welcomeBack(sessionId: string | undefined): Promise<void> {
  if (sessionId) await verify(sessionId);
  await fetchProfile({ inBackground: true });
}

async function verify(sessionId: string): Promise<void> {
  // The failure is shown already; the profile is fetched anyway.
  const answer = await call('verifyCheckoutSession', { sessionId }).catch(() => null);
  if (!answer?.success || !answer.tierUpdated) return;
  const description = accountWords.planUpdatedTo(planOf(answer.newTier).name);
  notify({ type: 'success', title: accountWords.planUpdated, description });
}
