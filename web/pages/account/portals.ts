import { managementWords, accountWords } from '#words/account';
import { isInApp } from '../../rules/in-app.ts';
import { useNavigate } from '@tanstack/react-router';
import { createPortalSession, createSubscriptionSession } from '../../data/billing-pages.ts';
import { isOwnAddress } from '../../rules/addresses.ts';
import { notifyError } from '../../data/error-toasts.ts';
import { showToast } from '../../data/toasts.ts';

export type RunningAction = 'subscription-update' | 'billing-management' | 'delete' | null;

type OpeningWords = {
  opened: string;
  openedText: string;
  redirect: string;
  redirectText?: string;
};

const subscriptionWords: OpeningWords = {
  opened: managementWords.subscriptionOpened,
  openedText: managementWords.subscriptionOpenedText,
  redirect: managementWords.subscriptionRedirect,
  redirectText: managementWords.openingHere,
};

const billingWords: OpeningWords = {
  opened: managementWords.billingOpened,
  openedText: managementWords.billingOpenedText,
  redirect: managementWords.billingRedirect,
};

type Portal = {
  action: RunningAction;
  words: OpeningWords;
  fallback: string;
  create: () => Promise<string>;
};

/** People without a paid plan are led to the plans, without a tab. */
export function usePortals(isPaying: boolean, setProcessing: (processing: RunningAction) => void) {
  const navigate = useNavigate();

  const lead = async (url: string, tab: Window | null, words: OpeningWords) => {
    if (!isOwnAddress(url, location.href)) return openPortal(url, tab, words);
    tab?.close();
    return navigate({ href: url });
  };

  const open = async ({ action, words, fallback, create }: Portal) => {
    setProcessing(action);
    const tab = isPaying ? openWaitingTab(managementWords.opening) : null;
    try {
      await lead(await create(), tab, words);
    } catch (error) {
      tab?.close();
      notifyError(error, { title: accountWords.error, fallback });
    }
    setProcessing(null);
  };

  return {
    manageSubscription: () =>
      void open({
        action: 'subscription-update',
        words: subscriptionWords,
        fallback: managementWords.subscriptionFailed,
        create: createSubscriptionSession,
      }),
    manageBilling: () =>
      void open({
        action: 'billing-management',
        words: billingWords,
        fallback: managementWords.billingFailed,
        create: createPortalSession,
      }),
  };
}

/**
 * Opens a tab before the response, since Safari forbids it later. Null if the browser forbids it, or if this page
 * itself would become empty.
 */
function openWaitingTab(text: string): Window | null {
  if (isInApp(navigator)) return null;
  const tab = window.open('about:blank', '_blank');
  if (!tab) return null;
  tab.opener = null;
  tab.document.title = text;
  tab.document.body.textContent = text;
  return tab;
}

const redirectDelayMs = 500;

/** Opens the portal in the waiting tab, or in this tab after half a second. */
function openPortal(url: string, waiting: Window | null, words: OpeningWords): void {
  const tab = waiting ?? openWaitingTab(words.opened);
  if (tab) {
    tab.location.replace(url);
    return showToast({ type: 'success', title: words.opened, description: words.openedText });
  }
  showToast({
    type: 'success',
    title: words.redirect,
    ...(words.redirectText ? { description: words.redirectText } : {}),
  });
  setTimeout(() => location.assign(url), redirectDelayMs);
}
