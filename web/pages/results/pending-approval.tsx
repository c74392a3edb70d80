import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { button } from '#styled/recipes';
import { request } from '../../data/api-client.ts';
import { notifyError, openAfterLoading } from '../../data/error-toasts.ts';
import { showToast } from '../../data/toasts.ts';
import { meQuery, useFreshProfile } from '../../data/profile-query.ts';
import { queryClient } from '../../data/query-client.ts';
import { signOut } from '../../data/sign-out.ts';
import { Unbroken } from '../../ui/text.tsx';
import { usePhoneText } from '../../data/phone-plans.ts';
import { ResultPage } from '../../ui/result-page.tsx';
import { useSession } from '../../data/session.ts';
import { pendingWords } from '#words/results';

const loadDialog = () => import('../../ui/dialog.tsx');
const ConfirmDialog = lazy(loadDialog);

export function PendingApproval() {
  const phone = useSession(({ user }) => user?.phoneNumber);
  const phoneText = usePhoneText(phone);
  const isApproved = useSession(({ user }) => user?.status === 'approved');
  const navigate = useNavigate();
  useFreshProfile();
  useProfilePoll();
  useEffect(() => {
    if (isApproved) void navigate({ to: '/account', replace: true });
  }, [isApproved, navigate]);
  return (
    <ResultPage
      mood="pause"
      title={pendingWords.title}
      text={<Unbroken text={pendingWords.text(phoneText)} />}
    >
      <p>{pendingWords.notice}</p>
      <WithdrawConsent />
      <button
        type="button"
        className={button({ look: 'outline' })}
        onClick={() => void signOut('/')}
      >
        {pendingWords.logout}
      </button>
    </ResultPage>
  );
}

/** While the tab is visible: no stream reaches a pending user. */
const pollEveryMs = 30_000;

function useProfilePoll(): void {
  const token = useSession((session) => session.token);
  const query = meQuery(token ?? '');
  const options = { enabled: token !== null, refetchOnMount: false };
  useQuery({ ...query, ...options, refetchInterval: pollEveryMs }, queryClient);
}

/** A pending user may not read the conversation; without a consent nothing changes. */
function WithdrawConsent() {
  const [isAsking, setAsking] = useState(false);
  const withdraw = async () => {
    setAsking(false);
    try {
      await request('deleteChatConsent');
      queryClient.removeQueries({ queryKey: ['chat'] });
      showToast({ type: 'success', title: pendingWords.withdrawn });
    } catch (error) {
      notifyError(error, { fallback: pendingWords.withdrawFailed });
    }
  };
  return (
    <>
      <p>{pendingWords.withdrawHint}</p>
      <button
        type="button"
        className={button({ look: 'outline' })}
        onClick={() => openAfterLoading(loadDialog, () => setAsking(true))}
      >
        {pendingWords.withdraw}
      </button>
      <Suspense>
        {isAsking && (
          <ConfirmDialog
            close={() => setAsking(false)}
            confirm={() => void withdraw()}
            title={pendingWords.withdrawTitle}
            text={pendingWords.withdrawText}
            cancelLabel={pendingWords.cancel}
            confirmLabel={pendingWords.withdraw}
          />
        )}
      </Suspense>
    </>
  );
}
