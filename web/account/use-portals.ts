import { useNavigate } from '@tanstack/react-router';
import { createBillingPage, createSubscriptionPage } from '../billing.ts';
import { isOwnAddress } from '../rules/own-address.ts';
import { tell } from '../tell.ts';
import { accountWords, managementWords } from '../words/account.ts';
import { type OpeningWords, openInTab } from './open-in-tab.ts';
import type { Processing } from './processing.ts';

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
      tell(error, { title: accountWords.error, fallback });
    }
    setProcessing(null);
  };

  return {
    manageSubscription: () =>
      void open('subscription-update', createSubscriptionPage, subscription, managementWords.subscriptionFailed),
    manageBilling: () => void open('billing-management', createBillingPage, billing, managementWords.billingFailed),
  };
}
