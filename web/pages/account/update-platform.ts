import type { Platform } from '#contract/schemas';
import { request } from '../../data/api.ts';
import { ApiError } from '../../data/api-error.ts';
import { notifyError } from '../../data/error-handler.ts';
import { notify } from '../../data/notices.ts';
import { accountWords, platformWords } from '../../words/account.ts';

type PartialResponse = { success?: boolean; platform?: Platform; message?: string };

/** Stores the preference and shows the result. Returns the stored platform, or null after a failure. */
export async function updatePlatform(wanted: Platform): Promise<Platform | null> {
  try {
    const { success, platform, message }: PartialResponse = await request('putPlatform', { platform: wanted });
    if (!success) throw new ApiError(platformWords.failed, { notice: message ?? null, status: 200 });
    const stored = platform ?? wanted;
    notify({ type: 'success', title: platformWords.updated, description: platformWords.updatedTo[stored] });
    return stored;
  } catch (error) {
    const isRefusal = error instanceof ApiError && error.status !== null;
    if (isRefusal) notifyError(error, { title: platformWords.failedTitle, fallback: platformWords.failed });
    else notifyError(error, { title: accountWords.error, text: platformWords.failed });
    return null;
  }
}
