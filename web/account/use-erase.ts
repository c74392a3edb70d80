import { request } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { departures } from '../departures.ts';
import { notify } from '../notices.ts';
import { session } from '../session.ts';
import { tell } from '../tell.ts';
import { accountWords, managementWords } from '../words/account.ts';
import type { Processing } from './processing.ts';

type Answer = { success?: boolean; message?: string; error?: string };

/** Deletes the account and leaves it. */
export function useErase(setProcessing: (processing: Processing) => void): () => void {
  const erase = async () => {
    setProcessing('delete');
    try {
      const { success, message, error }: Answer = await request('deleteMe');
      if (!success) throw new ApiError(managementWords.deleteFailed, { notice: error ?? message ?? null });
      session.clear();
      await departures.to('/login');
      notify({ type: 'success', title: accountWords.success, description: message ?? managementWords.deleted });
    } catch (error) {
      tell(error, { title: accountWords.error, fallback: managementWords.deleteFailed });
    }
    setProcessing(null);
  };
  return () => void erase();
}
