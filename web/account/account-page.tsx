import { planOf } from '#contract/plans';
import { useState } from 'react';
import { css } from '#styled/css';
import { page } from '#styled/recipes';
import { Waiting } from '../ui/waiting.tsx';
import { useSession } from '../use-session.ts';
import { accountWords } from '../words/account.ts';
import { AccountHeader } from './account-header.tsx';
import { ComparePlans } from './compare-plans.tsx';
import { CurrentPlanCard } from './current-plan-card.tsx';
import { DebugCard } from './debug-card.tsx';
import { ManagementCard } from './management-card.tsx';
import { PlatformCard } from './platform-card.tsx';
import type { Processing } from './processing.ts';
import { UsageCard } from './usage-card.tsx';
import { useCheckoutReturn } from './use-checkout-return.ts';
import { useErase } from './use-erase.ts';
import { useFreshProfile } from './use-fresh-profile.ts';

/** Everything that a person manages. */
export function AccountPage() {
  const user = useSession((session) => session.user);
  const isLoading = useSession((session) => session.isLoading);
  const [processing, setProcessing] = useState<Processing>(null);
  const erase = useErase(setProcessing);
  useFreshProfile();
  useCheckoutReturn();
  if (processing === 'delete') return <Waiting label={accountWords.deleting} />;
  if (!user || (isLoading && !user.phoneNumber)) return <Waiting label={accountWords.loading} />;
  return (
    <div className={page()}>
      <AccountHeader phone={user.phoneNumber} />
      <div className={columns}>
        <div className={column}>
          <CurrentPlanCard user={user} />
          <UsageCard user={user} isLoading={isLoading} />
          <ComparePlans current={planOf(user.metadata.subscriptionTier).id} />
        </div>
        <div className={column}>
          <PlatformCard />
          <ManagementCard user={user} processing={processing} setProcessing={setProcessing} erase={erase} />
          <DebugCard user={user} />
        </div>
      </div>
    </div>
  );
}

const columns = css({
  display: 'grid',
  gridTemplateColumns: { base: '[minmax(0, 1fr)]', lg: '[minmax(0, 5fr) minmax(0, 3fr)]' },
  gap: '6',
  alignItems: 'start',
});
const column = css({ display: 'grid', gridTemplateColumns: '[minmax(0, 1fr)]', gap: '6' });
