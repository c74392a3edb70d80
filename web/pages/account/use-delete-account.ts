import { request } from '../../data/api.ts';
import { ApiError } from '../../data/api-error.ts';
import { notifyError } from '../../data/error-handler.ts';
import { notify } from '../../data/notices.ts';
import { redirectTo } from '../../data/redirects.ts';
import { session } from '../../data/session.ts';
import { accountWords, managementWords } from '../../words/account.ts';
import type { Processing } from './use-portals.ts';

type PartialResponse = { success?: boolean; message?: string; error?: string };

/** Deletes the account, ends the session and redirects to the login. */
export function useDeleteAccount(setProcessing: (processing: Processing) => void): () => void {
  const deleteAccount = async () => {
    const { token } = session.get();
    setProcessing('delete');
    try {
      const { success, message, error }: PartialResponse = await request('deleteMe');
      if (!success) throw new ApiError(managementWords.deleteFailed, { notice: error ?? message ?? null });
      if (token) session.end(token);
      await redirectTo('/login');
      notify({ type: 'success', title: accountWords.success, description: message ?? managementWords.deleted });
    } catch (error) {
      notifyError(error, { title: accountWords.error, fallback: managementWords.deleteFailed });
    }
    setProcessing(null);
  };
  return () => void deleteAccount();
}
