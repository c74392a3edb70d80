import { useQuery } from '@tanstack/react-query';
import type { TrialSubscription } from '../rules/cancel-view.ts';
import type { User } from '../rules/user-profile.ts';
import { request } from './api-client.ts';
import { queryClient } from './query-client.ts';

/** Reads the subscription again after a change of the plan, which brings another profile. */
export const subscriptionQuery = ({ metadata }: User, token: string | null) => ({
  queryKey: [
    'subscription',
    token,
    metadata.subscriptionTier,
    metadata.cancelAtDate,
    metadata.scheduledDowngradeTierId,
  ],
  queryFn: () => request('getSubscription'),
  meta: { silent: true },
});

/** Reads the subscription of a person on a trial, which the profile does not show. */
export function useTrialSubscription(user: User, token: string) {
  const { isTrial } = user;
  const query = { ...subscriptionQuery(user, token), enabled: isTrial };
  const { data, isPending, refetch } = useQuery(query, queryClient);
  const pending = isPending ? 'loading' : 'unknown';
  const subscription: TrialSubscription = data ? data.subscription : pending;
  const refetchSubscription = async () => {
    if (isTrial) await refetch();
  };
  return { subscription, refetchSubscription };
}
