import { Suspense, lazy, useState } from 'react';
import { button } from '#styled/recipes';
import { managementButton } from '../../rules/account-view.ts';
import { planOf } from '#contract/plans';
import type { User } from '../../rules/user-profile.ts';
import { changeNumberWords, managementWords, accountWords } from '#words/account';
import { isInApp } from '../../rules/in-app.ts';
import { Action, AccountCard } from './account-layout.tsx';
import { PrivacyActions } from './data-and-sessions.tsx';
import { useNavigate } from '@tanstack/react-router';
import { createPortalSession, createSubscriptionSession } from '../../data/billing-pages.ts';
import { isOwnAddress } from '../../rules/addresses.ts';
import { ApiError } from '../../data/api-error.ts';
import { notifyError, openAfterLoading } from '../../data/error-notices.ts';
import { showToast } from '../../data/toasts.ts';
import { request } from '../../data/api-client.ts';
import { keptInTab } from '../../data/kept-in-tab.ts';
import { lazyWithFallback } from '../../data/loaded-parts.tsx';
import { redirectTo } from '../../data/redirects.ts';
import { session } from '../../data/session.ts';

type Props = {
  user: User;
  processing: Processing;
  setProcessing: (processing: Processing) => void;
  deleteAccount: () => void;
};

const loadDialog = () => import('../../ui/dialog.tsx');
const ConfirmDialog = lazy(loadDialog);
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
      <Action
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
      </Action>
      <Action
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
      </Action>
      <ChangeOfNumber isDisabled={isBusy} />
      <PrivacyActions isDisabled={isBusy} />
      <Deletion
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
    <Action
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
    </Action>
  );
}

type DeletionProps = { isDisabled: boolean; deleteAccount: () => void };

function Deletion({ isDisabled, deleteAccount }: DeletionProps) {
  const [isAsking, setAsking] = useState(false);
  const preload = () => void loadDialog().catch(() => null);
  const confirm = () => {
    setAsking(false);
    deleteAccount();
  };
  return (
    <>
      <Action
        hint={managementWords.deleteHint}
        id="delete"
      >
        <button
          type="button"
          className={button({ look: 'dangerSoft', wide: true })}
          aria-describedby="delete-hint"
          disabled={isDisabled}
          onPointerEnter={preload}
          onFocus={preload}
          onClick={() => openAfterLoading(loadDialog, () => setAsking(true))}
        >
          {managementWords.deleteAccount}
        </button>
      </Action>
      {isAsking && (
        <Suspense>
          <ConfirmDialog
            close={() => setAsking(false)}
            confirm={confirm}
            title={managementWords.deleteTitle}
            text={managementWords.deleteText}
            cancelLabel={managementWords.cancel}
            confirmLabel={managementWords.deleteAccount}
          />
        </Suspense>
      )}
    </>
  );
}

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

/** Who pays for no plan is led to the plans, without a tab. */
function usePortals(isPaying: boolean, setProcessing: (processing: Processing) => void) {
  const navigate = useNavigate();

  const open = async (
    marker: Processing,
    create: () => Promise<string>,
    say: OpeningWords,
    fallback: string,
  ) => {
    setProcessing(marker);
    const tab = isPaying ? openWaitingTab(managementWords.opening) : null;
    try {
      const url = await create();
      if (!isOwnAddress(url, location.href)) show(url, tab, say);
      else {
        tab?.close();
        await navigate({ href: url });
      }
    } catch (error) {
      tab?.close();
      notifyError(error, { title: accountWords.error, fallback });
    }
    setProcessing(null);
  };

  return {
    manageSubscription: () =>
      void open(
        'subscription-update',
        createSubscriptionSession,
        subscription,
        managementWords.subscriptionFailed,
      ),
    manageBilling: () =>
      void open('billing-management', createPortalSession, billing, managementWords.billingFailed),
  };
}

export type OpeningWords = {
  opened: string;
  openedText: string;
  redirect: string;
  redirectText?: string;
};

const redirectDelay = 500;

/** Safari forbids it after the response. Null if forbidden, or if this page itself would become empty. */
function openWaitingTab(text: string): Window | null {
  if (isInApp(navigator)) return null;
  const tab = window.open('about:blank', '_blank');
  if (!tab) return null;
  tab.opener = null;
  tab.document.title = text;
  tab.document.body.textContent = text;
  return tab;
}

/** In this tab after half a second, where the browser forbids one. */
function show(url: string, waiting: Window | null, say: OpeningWords): void {
  const tab = waiting ?? openWaitingTab(say.opened);
  if (tab) {
    tab.location.replace(url);
    return showToast({ type: 'success', title: say.opened, description: say.openedText });
  }
  showToast({
    type: 'success',
    title: say.redirect,
    ...(say.redirectText ? { description: say.redirectText } : {}),
  });
  setTimeout(() => location.assign(url), redirectDelay);
}

type PartialDeletion = { success?: boolean; message?: string; error?: string };

export function useDeleteAccount(setProcessing: (processing: Processing) => void): () => void {
  const deleteAccount = async () => {
    const { token } = session.get();
    setProcessing('delete');
    try {
      const { success, message, error }: PartialDeletion = await request('deleteMe');
      if (!success)
        throw new ApiError(managementWords.deleteFailed, { toast: error ?? message ?? null });
      if (token) session.endByPerson(token);
      await redirectTo('/login');
      showToast({
        type: 'success',
        title: accountWords.success,
        description: message ?? managementWords.deleted,
      });
    } catch (error) {
      notifyError(error, { title: accountWords.error, fallback: managementWords.deleteFailed });
    }
    setProcessing(null);
  };
  return () => void deleteAccount();
}
