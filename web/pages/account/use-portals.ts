import { useNavigate } from '@tanstack/react-router';
import { createPortalSession, createSubscriptionSession } from '../../data/billing.ts';
import { isOwnAddress } from '../../rules/hosts.ts';
import { notifyError } from '../../data/error-handler.ts';
import { accountWords, managementWords } from '../../words/account.ts';
import { type OpeningWords, openInTab } from './open-in-tab.ts';

/** The action that is running. */
export type Processing = 'subscription-update' | 'billing-management' | 'delete' | null;

const subscription: OpeningWords = {
  opened: managementWords.subscriptionOpened,
  openedText: managementWords.subscriptionOpenedText,
  redirect: managementWords.subscriptionRedirect,
  redirectText: managementWords.openingHere,
};
const billing: OpeningWords = {
  opened: managementWords.billingOpened,
  openedText: managementWords.billingOpenedText,
  redirect: managementWords.billingRedirect,
};

/** Opens the pages of the payment provider from the account. */
export function usePortals(setProcessing: (processing: Processing) => void) {
  const navigate = useNavigate();

  const open = async (marker: Processing, create: () => Promise<string>, say: OpeningWords, fallback: string) => {
    setProcessing(marker);
    try {
      const url = await create();
      if (isOwnAddress(url, location.href)) await navigate({ href: url });
      else openInTab(url, say);
    } catch (error) {
      notifyError(error, { title: accountWords.error, fallback });
    }
    setProcessing(null);
  };

  return {
    manageSubscription: () =>
      void open('subscription-update', createSubscriptionSession, subscription, managementWords.subscriptionFailed),
    manageBilling: () => void open('billing-management', createPortalSession, billing, managementWords.billingFailed),
  };
}
