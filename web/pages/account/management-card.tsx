import { Suspense, lazy, useState } from 'react';
import { button, card } from '#styled/recipes';
import { managementButton } from '../../rules/management-button.ts';
import type { User } from '../../rules/read-user.ts';
import { managementWords } from '../../words/account.ts';
import { Action } from './action.tsx';
import { CardHead } from './card-head.tsx';
import { PrivacyActions } from './privacy-actions.tsx';
import { type Processing, usePortals } from './use-portals.ts';

type Props = {
  user: User;
  processing: Processing;
  setProcessing: (processing: Processing) => void;
  deleteAccount: () => void;
};

const loadDialog = () => import('../../ui/confirm-dialog.tsx');
const ConfirmDialog = lazy(loadDialog);

/** Subscription, billing, and deletion of the account. */
export function ManagementCard({ user, processing, setProcessing, deleteAccount }: Props) {
  const [isAsking, setAsking] = useState<boolean | null>(null);
  const { manageSubscription, manageBilling } = usePortals(setProcessing);
  const { label, hint } = managementButton({
    ...user.metadata,
    isTrial: user.isTrial,
    scheduledTierId: user.metadata.scheduledDowngradeTierId,
  });
  const isBusy = processing !== null;
  const confirm = () => {
    setAsking(false);
    deleteAccount();
  };
  return (
    <section className={card({ look: 'raised' })} aria-labelledby="management">
      <CardHead id="management" title={managementWords.title} />
      <Action hint={hint} id="subscription">
        <button
          type="button"
          className={button({ wide: true })}
          aria-describedby="subscription-hint"
          disabled={isBusy}
          onClick={manageSubscription}
        >
          {processing === 'subscription-update' ? managementWords.opening : label}
        </button>
      </Action>
      <Action hint={managementWords.billingHint} id="billing">
        <button
          type="button"
          className={button({ look: 'soft', wide: true })}
          aria-describedby="billing-hint"
          disabled={isBusy}
          onClick={manageBilling}
        >
          {processing === 'billing-management' ? managementWords.openingPortal : managementWords.billing}
        </button>
      </Action>
      <PrivacyActions isDisabled={isBusy} />
      <Action hint={managementWords.deleteHint} id="delete">
        <button
          type="button"
          className={button({ look: 'dangerSoft', wide: true })}
          aria-describedby="delete-hint"
          disabled={isBusy}
          onPointerEnter={() => void loadDialog().catch(() => null)}
          onFocus={() => void loadDialog().catch(() => null)}
          onClick={() => setAsking(true)}
        >
          {managementWords.deleteAccount}
        </button>
      </Action>
      {isAsking !== null && (
        <Suspense>
          <ConfirmDialog
            isOpen={isAsking}
            close={() => setAsking(false)}
            confirm={confirm}
            title={managementWords.deleteTitle}
            text={managementWords.deleteText}
            cancelLabel={managementWords.cancel}
            confirmLabel={managementWords.deleteAccount}
          />
        </Suspense>
      )}
    </section>
  );
}
