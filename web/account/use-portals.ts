import { useNavigate } from '@tanstack/react-router';
import { createBillingPage, createSubscriptionPage } from '../billing.ts';
import { isOwnAddress } from '../rules/own-address.ts';
import { tell } from '../tell.ts';
import { words } from '../words.ts';
import { type OpeningWords, openInTab } from './open-in-tab.ts';
import type { Processing } from './processing.ts';

const { management } = words;

const subscription: OpeningWords = {
  opened: management.subscriptionOpened,
  openedText: management.subscriptionOpenedText,
  redirect: management.subscriptionRedirect,
  redirectText: management.openingHere,
};
const billing: OpeningWords = {
  opened: management.billingOpened,
  openedText: management.billingOpenedText,
  redirect: management.billingRedirect,
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
      tell(error, { title: words.account.error, fallback });
    }
    setProcessing(null);
  };

  return {
    manageSubscription: () =>
      void open('subscription-update', createSubscriptionPage, subscription, management.subscriptionFailed),
    manageBilling: () => void open('billing-management', createBillingPage, billing, management.billingFailed),
  };
}
