import { QueryClientProvider } from '@tanstack/react-query';
import { planOf } from '#contract/plans';
import { useState } from 'react';
import { page } from '#styled/recipes';
import { queryClient } from '../../data/query-client.ts';
import { useFreshProfile } from '../../data/use-fresh-profile.ts';
import { useSession } from '../../data/use-session.ts';
import { formatPhone } from '../../rules/format-phone.ts';
import { PageSpinner } from '../../ui/page-spinner.tsx';
import { accountWords } from '../../words/account.ts';
import { AccountHeader, phoneStyle } from './account-header.tsx';
import { AccountSkeleton } from './account-skeleton.tsx';
import { column, columns } from './columns.tsx';
import { ComparePlans } from './compare-plans.tsx';
import { CurrentPlanCard } from './current-plan-card.tsx';
import { DebugCard } from './debug-card.tsx';
import { ManagementCard } from './management-card.tsx';
import { PlatformCard } from './platform-card.tsx';
import { UsageCard } from './usage-card.tsx';
import { useCheckoutReturn } from './use-checkout-return.ts';
import { useDeleteAccount } from './use-delete-account.ts';
import type { Processing } from './use-portals.ts';

/** Plan, usage and settings. Another session renders a new page. */
export function AccountPage() {
  const token = useSession((session) => session.token);
  return (
    <QueryClientProvider client={queryClient}>
      <Account key={token} />
    </QueryClientProvider>
  );
}

function Account() {
  const user = useSession((session) => session.user);
  const isLoading = useSession((session) => session.isLoading);
  const [processing, setProcessing] = useState<Processing>(null);
  const deleteAccount = useDeleteAccount(setProcessing);
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
          <UsageCard user={user} isLoading={isLoading} />
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
          <DebugCard user={user} />
        </div>
      </div>
    </div>
  );
}
