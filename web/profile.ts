import { request } from './api.ts';
import { ApiError } from './api-error.ts';
import { usageFeed } from './live/usage-feed.ts';
import { queryClient } from './query-client.ts';
import { readUser, type LooseProfile } from './rules/read-user.ts';
import { session } from './session.ts';
import { sentenceOf, tell } from './tell.ts';
import { profileWords } from './words/session.ts';

type ProfileFailure = { success: false; message: string; problem?: unknown };
export type ProfileOutcome = { success: true } | ProfileFailure;

/** Starts a visit: reads the stored token, or takes the given one, and fetches the profile. */
export async function initialise(given?: string): Promise<boolean> {
  session.setInitializing(true);
  const token = given ?? session.storedToken();
  if (token) session.keepToken(token);
  const outcome = await fetchProfile();
  if (!outcome.success) giveUp(outcome);
  session.setInitializing(false);
  return outcome.success;
}

/** Fetches the profile into the session; in the background nothing shows that it does. */
export async function fetchProfile({ inBackground = false } = {}): Promise<ProfileOutcome> {
  if (!session.get().token) return { success: false, message: profileWords.noToken };
  session.setLoading(!inBackground);
  const seen = usageFeed.seen();
  try {
    const { success, profile, message }: LooseAnswer = await queryClient.fetchQuery(me);
    if (!success || !profile) return { success: false, message: message ?? profileWords.fetchFailed };
    keep(profile, seen);
    return { success: true };
  } catch (problem) {
    return {
      success: false,
      message: sentenceOf(problem, profileWords.unexpected) ?? profileWords.fetchFailed,
      problem,
    };
  } finally {
    session.setLoading(false);
  }
}

export function isFetchingProfile(): boolean {
  return queryClient.isFetching({ queryKey: me.queryKey }) > 0;
}

type LooseAnswer = { success?: boolean; profile?: LooseProfile; message?: string };

const me = { queryKey: ['me'], queryFn: () => request('getMe'), meta: { silent: true }, staleTime: 0 };

/** A count that the feed told meanwhile is newer than the answer's. */
function keep(profile: LooseProfile, seen: number): void {
  const live = session.get().user?.messagesUsedThisPeriod;
  session.setUser(readUser(profile));
  if (live !== undefined && usageFeed.seen() !== seen) session.setMessagesUsed(live);
}

/** While the server is away the stored token stays: it may be good at the next visit. */
function giveUp({ message, problem }: ProfileFailure): void {
  const isOutage = problem instanceof ApiError && (problem.isNetwork || (problem.status ?? 0) >= 500);
  session.clear({ keepStored: isOutage });
  tell(problem, { text: message });
}
