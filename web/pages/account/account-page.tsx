import { QueryClientProvider } from '@tanstack/react-query';
import { planOf } from '#contract/plans';
import { Suspense, useState, useEffect, useRef } from 'react';
import { loadAfterMount, lazyWithFallback } from '../../data/loaded-parts.tsx';
import { page } from '#styled/recipes';
import { useFreshProfile, fetchProfile } from '../../data/profile-query.ts';
import { queryClient } from '../../data/query-client.ts';
import { useSession } from '../../data/session.ts';
import { formatPhone } from '../../rules/phone-text.ts';
import { PageSpinner } from '../../ui/spinner.tsx';
import { planName } from '../../rules/plan-texts.ts';
import { accountWords } from '#words/account';
import { AccountHeader, phoneStyle, column, columns } from './account-layout.tsx';
import { AccountSkeleton } from './account-skeleton.tsx';
import { ComparePlans } from './compare-plans-card.tsx';
import { CurrentPlanCard } from './current-plan-card.tsx';
import { ManagementCard } from './account-management-card.tsx';
import { useDeleteAccount } from './delete-account.tsx';
import type { RunningAction } from './portals.ts';
import { PlatformCard } from './platform-card.tsx';
import { UsageCard } from './usage-card.tsx';
import { useRouter, useSearch } from '@tanstack/react-router';
import { requestWithToast } from '../../data/api-client.ts';
import { showToast } from '../../data/toasts.ts';
import { tabStorage } from '../../data/store.ts';

export function AccountPage() {
  const token = useSession((session) => session.token);
  return (
    <QueryClientProvider client={queryClient}>
      <Account key={token} />
    </QueryClientProvider>
  );
}

/** Last, so that nothing moves when it comes. */
const LeavingCard = lazyWithFallback(() => import('./leaving-card.tsx'));
const DebugCard = loadAfterMount(() => import('./debug-card.tsx'));

function Account() {
  const token = useSession((session) => session.token);
  const user = useSession((session) => session.user);
  const isLoading = useSession((session) => session.isLoading);
  const [processing, setProcessing] = useState<RunningAction>(null);
  const deleteAccount = useDeleteAccount(setProcessing);
  const isDebugging = useShortcut();

  useFreshProfile();
  useCheckoutReturn();

  if (processing === 'delete') return <PageSpinner label={accountWords.deleting} />;
  if (!user || (isLoading && !user.phoneNumber)) return <AccountSkeleton />;

  return (
    <div className={page()}>
      <AccountHeader isKnown>
        <p className={phoneStyle}>{formatPhone(user.phoneNumber)}</p>
      </AccountHeader>
      <div className={columns}>
        <div className={column}>
          <CurrentPlanCard user={user} />
          <UsageCard
            user={user}
            isLoading={isLoading}
          />
          <ComparePlans current={planOf(user.metadata.subscriptionTier).id} />
        </div>
        <div className={column}>
          <PlatformCard />
          <ManagementCard
            user={user}
            processing={processing}
            setProcessing={setProcessing}
            deleteAccount={deleteAccount}
          />
          <Suspense>
            <LeavingCard
              user={user}
              token={token}
            />
          </Suspense>
          {isDebugging && <DebugCard user={user} />}
        </div>
      </div>
    </div>
  );
}

function useShortcut(): boolean {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!event.ctrlKey || !event.shiftKey || event.key.toLowerCase() !== 'd') return;
      event.preventDefault();
      setShown((before) => !before);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
  return isShown;
}

function useCheckoutReturn(): void {
  const { session_id: sessionId, status } = useSearch({ from: '/account' });
  const router = useRouter();
  const handled = useRef('');
  const isReturn = sessionId !== undefined || status === 'success' || status === 'cancelled';

  useEffect(() => {
    const visit = `${sessionId} ${status}`;
    if (!isReturn || handled.current === visit) return;
    handled.current = visit;
    const path = router.latestLocation.pathname;
    void welcomeBack(sessionId).then(() => {
      if (router.latestLocation.pathname !== path) return undefined;
      const opened = { to: '/account', search: {} } as const;
      return router.navigate({ ...opened, replace: true, resetScroll: false });
    });
  }, [isReturn, sessionId, status, router]);
}

async function welcomeBack(sessionId: string | undefined): Promise<void> {
  if (sessionId) await showNewPlan(sessionId);
  await fetchProfile({ inBackground: true });
}

async function showNewPlan(sessionId: string): Promise<void> {
  // The failure is shown already.
  const response = await requestWithToast('verifyCheckoutSession', { sessionId }).catch(() => null);
  if (!response?.success || !response.tierUpdated || wasShown(sessionId)) return;
  const description = accountWords.planUpdatedTo(planName(planOf(response.newTier).id));
  showToast({ type: 'success', title: accountWords.planUpdated, description });
}

/** Whether this tab has shown it: Back and a reload open the address again. */
function wasShown(sessionId: string): boolean {
  const key = `planUpdated.${sessionId}`;
  const was = tabStorage.read(key) !== null;
  tabStorage.write(key, 'yes');
  return was;
}
