import { profileWords } from '#words/page-errors';
import { readUser, type PartialProfile, type User } from '../rules/user-profile.ts';
import { requestAs } from './api-client.ts';
import { ApiError, sessionReplaced } from './api-error.ts';
import { errorMessage, notifyError } from './error-toasts.ts';
import { queryClient } from './query-client.ts';
import { connectionState } from './event-stream.ts';
import { session } from './session.ts';
import { createStore } from './store.ts';
import { useEffect } from 'react';

export type ProfileResult =
  | { success: true }
  | { success: false; message: string; error?: unknown };

const key = (token: string) => ['me', token] as const;
/** Tokens whose profile is fetched while the page shows that it loads. */
const foreground = createStore<{ tokens: readonly string[] }>({ tokens: [] });
foreground.subscribe(session.refresh);

// A profile stays as long as its session.
queryClient.setQueryDefaults(['me'], { gcTime: Infinity });

session.connect({
  get: (token) => queryClient.getQueryData<User>(key(token)) ?? null,
  set: (token, user) => void queryClient.setQueryData<User>(key(token), user),
  // Every key has the token at this place.
  remove: (token) =>
    queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[1] === token }),
  isLoading: (token) => foreground.get().tokens.includes(token),
});
queryClient.getQueryCache().subscribe(({ type, query }) => {
  if (query.queryKey[0] === 'me' && (type === 'updated' || type === 'removed')) session.refresh();
});

/** Fetches the profile; in the background without a loading state. */
export async function fetchProfile({ inBackground = false } = {}): Promise<ProfileResult> {
  const { token } = session.get();
  if (!token) return { success: false, message: profileWords.noToken };
  if (!inBackground) foreground.set({ tokens: [...foreground.get().tokens, token] });

  try {
    await queryClient.fetchQuery(meQuery(token));
    return { success: true };
  } catch (failure) {
    const error = session.get().token === token ? failure : sessionReplaced();
    return {
      success: false,
      message: errorMessage(error, profileWords.unexpected) ?? profileWords.fetchFailed,
      error,
    };
  } finally {
    foreground.set({ tokens: foreground.get().tokens.filter((each) => each !== token) });
  }
}

export function keepProfile(token: string, profile: PartialProfile): void {
  queryClient.setQueryData<User>(key(token), readUser(profile));
}

/** Stores a profile of the stream. A running fetch may be older and arrive later, so another follows. */
export function keepStreamProfile(token: string, profile: PartialProfile): void {
  keepProfile(token, profile);
  if (isFetching(token)) void refetchProfile();
}

/** Fetches the profile again after a running fetch, which may be older. */
export async function refetchProfile(): Promise<void> {
  const { token } = session.get();
  if (token !== null && isFetching(token)) await fetchProfile({ inBackground: true });
  await fetchProfile({ inBackground: true });
}

const isFetching = (token: string) => queryClient.isFetching({ queryKey: key(token) }) > 0;

/** Loads the profile of a stored session. A refusal ends the session; an outage does not. */
export async function restoreSession(token: string): Promise<void> {
  if (session.get().token !== token) return;
  const wasUnreached = session.get().isUnreached;
  const result = await fetchProfile({ inBackground: wasUnreached });
  if (result.success || session.get().token !== token) return;

  const isOutage = result.error instanceof ApiError && result.error.isOutage;
  if (isOutage && wasUnreached) return;
  if (isOutage) session.noteOutage(token);
  else session.end(token);
  notifyError(result.error, { text: result.message });
}

export const meQuery = (token: string) => ({
  queryKey: key(token),
  queryFn: () => fetchUser(token),
  staleTime: 0,
  meta: { silent: true },
});

type PartialMe = { success?: boolean; profile?: PartialProfile; message?: string };

async function fetchUser(token: string): Promise<User> {
  const counts = connectionState.get().counts;
  const { success, profile, message }: PartialMe = await requestAs(token, 'getMe');
  if (!success || !profile)
    throw new ApiError(message ?? profileWords.fetchFailed, { status: 200 });
  const user = readUser(profile);
  const current = queryClient.getQueryData<User>(key(token));
  // The stream's count is newer.
  const isUnchanged = connectionState.get().counts === counts;
  if (!current || isUnchanged) return user;
  return { ...user, messagesUsedThisPeriod: current.messagesUsedThisPeriod };
}

export function useFreshProfile(): void {
  useEffect(() => {
    const refresh = () => {
      if (document.visibilityState === 'visible' && session.get().token)
        void fetchProfile({ inBackground: true });
    };
    document.addEventListener('visibilitychange', refresh);
    return () => document.removeEventListener('visibilitychange', refresh);
  }, []);
}
