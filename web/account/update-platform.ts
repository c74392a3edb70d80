import type { Platform } from '#contract/shapes';
import { request } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { notify } from '../notices.ts';
import { tell } from '../tell.ts';
import { accountWords, platformWords } from '../words/account.ts';

type Answer = { success?: boolean; platform?: Platform; message?: string };

/** Stores the preference and says how it went; answers what is stored now, or null. */
export async function updatePlatform(wanted: Platform): Promise<Platform | null> {
  try {
    const { success, platform, message }: Answer = await request('putPlatform', { platform: wanted });
    if (!success) throw new ApiError(platformWords.failed, { notice: message ?? null, status: 200 });
    const stored = platform ?? wanted;
    const description = platformWords.updatedTo(platformWords.options[stored].name);
    notify({ type: 'success', title: platformWords.updated, description });
    return stored;
  } catch (error) {
    const wasRefused = error instanceof ApiError && error.status !== null;
    if (wasRefused) tell(error, { title: platformWords.failedTitle, fallback: platformWords.failed });
    else tell(error, { title: accountWords.error, text: platformWords.failed });
    return null;
  }
}
