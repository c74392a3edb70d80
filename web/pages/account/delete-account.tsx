import { Suspense, lazy, useState } from 'react';
import { button } from '#styled/recipes';
import { managementWords, accountWords } from '#words/account';
import { AccountAction } from './account-layout.tsx';
import { ApiError } from '../../data/api-error.ts';
import { notifyError, openAfterLoading } from '../../data/error-toasts.ts';
import { showToast } from '../../data/toasts.ts';
import { request } from '../../data/api-client.ts';
import { redirectTo } from '../../data/redirects.ts';
import { session } from '../../data/session.ts';
import type { RunningAction } from './portals.ts';

const loadDialog = () => import('../../ui/dialog.tsx');
const ConfirmDialog = lazy(loadDialog);

type DeleteAccountProps = { isDisabled: boolean; deleteAccount: () => void };

export function DeleteAccount({ isDisabled, deleteAccount }: DeleteAccountProps) {
  const [isAsking, setAsking] = useState(false);
  const preload = () => void loadDialog().catch(() => null);
  const confirm = () => {
    setAsking(false);
    deleteAccount();
  };
  return (
    <>
      <AccountAction
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
      </AccountAction>
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

type PartialDeletion = { success?: boolean; message?: string; error?: string };

export function useDeleteAccount(setProcessing: (processing: RunningAction) => void): () => void {
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
