import { Suspense, useState } from 'react';
import { button } from '#styled/recipes';
import { managementButton } from '../../rules/account-view.ts';
import { planOf } from '#contract/plans';
import type { User } from '../../rules/user-profile.ts';
import { changeNumberWords, managementWords } from '#words/account';
import { AccountAction, AccountCard } from './account-layout.tsx';
import { PrivacyActions } from './privacy-actions.tsx';
import { openAfterLoading } from '../../data/error-toasts.ts';
import { keptInTab } from '../../data/kept-in-tab.ts';
import { lazyWithFallback } from '../../data/loaded-parts.tsx';
import { session } from '../../data/session.ts';
import { DeleteAccount } from './delete-account.tsx';
import { usePortals, type RunningAction } from './portals.ts';

type Props = {
  user: User;
  processing: RunningAction;
  setProcessing: (processing: RunningAction) => void;
  deleteAccount: () => void;
};

const loadChange = () => import('./change-number.tsx');
const ChangeNumber = lazyWithFallback(loadChange);

export function ManagementCard({ user, processing, setProcessing, deleteAccount }: Props) {
  const isPaying = !user.isTrial && planOf(user.metadata.subscriptionTier).id !== 'free';
  const { manageSubscription, manageBilling } = usePortals(isPaying, setProcessing);
  const { label, hint } = managementButton({
    ...user.metadata,
    isTrial: user.isTrial,
    scheduledTierId: user.metadata.scheduledDowngradeTierId,
  });
  const isBusy = processing !== null;
  return (
    <AccountCard
      id="management"
      title={managementWords.title}
    >
      <AccountAction
        hint={hint}
        id="subscription"
      >
        <button
          type="button"
          className={button({ wide: true })}
          aria-describedby="subscription-hint"
          disabled={isBusy}
          onClick={manageSubscription}
        >
          {processing === 'subscription-update' ? managementWords.opening : label}
        </button>
      </AccountAction>
      <AccountAction
        hint={managementWords.billingHint}
        id="billing"
      >
        <button
          type="button"
          className={button({ look: 'soft', wide: true })}
          aria-describedby="billing-hint"
          disabled={isBusy}
          onClick={manageBilling}
        >
          {processing === 'billing-management'
            ? managementWords.openingPortal
            : managementWords.billing}
        </button>
      </AccountAction>
      <ChangeOfNumber isDisabled={isBusy} />
      <PrivacyActions isDisabled={isBusy} />
      <DeleteAccount
        isDisabled={isBusy}
        deleteAccount={deleteAccount}
      />
    </AccountCard>
  );
}

/** Open also after a reload. */
function ChangeOfNumber({ isDisabled }: { isDisabled: boolean }) {
  const [isOpen, setOpen] = useState(
    () => keptInTab.read('phoneChange', session.get().token) !== null,
  );
  if (isOpen)
    return (
      <Suspense>
        <ChangeNumber close={() => setOpen(false)} />
      </Suspense>
    );
  return (
    <AccountAction
      hint={changeNumberWords.hint}
      id="change-number"
    >
      <button
        type="button"
        className={button({ look: 'soft', wide: true })}
        aria-describedby="change-number-hint"
        disabled={isDisabled}
        onClick={() => openAfterLoading(loadChange, () => setOpen(true))}
      >
        {changeNumberWords.open}
      </button>
    </AccountAction>
  );
}
